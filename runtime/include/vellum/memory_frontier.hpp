// How fast a model runs within how many bytes of device memory: the ways that sessions with
// SessionOptions::memory_budget take, from the smallest budget to everything resident.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vellum/caps.hpp"
#include "vellum/vellum.hpp"

namespace vellum {

struct FrontierPoint {
  uint64_t budget = 0;          // bytes of device memory
  uint64_t bytes = 0;           // the most that a session within this budget allocates from Vulkan at a time
  uint64_t weights_bytes = 0;   // of these, for weights
  uint64_t streamed_bytes = 0;  // of weights, copied to the device in every run; 0: all weights are resident
  double predicted_ms = 0;      // a run; for comparing points, the device's rates are published or assumed
  // Options of a session without a memory budget that runs in the same way, except for the next member.
  SessionOptions options;
  uint32_t tiled_layers = 0;  // that run in strips (docs/memory.md); only a memory budget takes any
};

struct MemoryFrontier {
  std::vector<FrontierPoint> points;  // in order of budgets
  // Index of the point where less memory begins to cost much time: with both scaled to 0..1, the one with the
  // least sum.
  size_t knee = 0;
};

struct FrontierOptions {
  // Bytes. Empty: the smallest that suffices, what the session's options take without a budget, 75, 50, 25
  // and 10% of that, and steps between these. Those that are too small for the model are left out.
  std::vector<uint64_t> budgets;
  std::function<void(size_t done, size_t total)> progress;  // called before the first point and after each
};

// Finds the frontier of one combination of input shapes. Needs no device: sizes in memory are modelled.
// Throws the errors of estimate_memory(); Error(invalid_argument) with what a memory budget excludes.
VELLUM_API MemoryFrontier memory_frontier(const Model& model, const SessionOptions& options, const Caps& caps,
                                          const FrontierOptions& frontier_options = {});
// Does the same with the device's own answers for the memory of images and buffers, which predicts
// allocations exactly.
VELLUM_API MemoryFrontier memory_frontier(const Model& model, const SessionOptions& options,
                                          const Device& device, const FrontierOptions& frontier_options = {});

// Returns the index of the knee, see MemoryFrontier. `milliseconds`: of each point.
VELLUM_API size_t frontier_knee(const std::vector<FrontierPoint>& points,
                                const std::vector<double>& milliseconds);

// Draws milliseconds over budgets, the knee marked: a self-contained SVG document, 640 units wide.
// `measured`: milliseconds of each point, for a second line; empty: none. Throws Error(invalid_argument) for
// a frontier without points, and where `measured` has another number of them.
VELLUM_API std::string memory_frontier_svg(const std::string& title, const MemoryFrontier& frontier,
                                           const std::vector<double>& measured = {});

}  // namespace vellum

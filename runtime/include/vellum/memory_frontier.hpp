// The trade-off between device memory and time: the configurations that sessions choose under
// SessionOptions::memory_budget, from the smallest budget to everything resident.
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
  uint64_t bytes = 0;           // peak of what a session within this budget allocates from Vulkan
  uint64_t weights_bytes = 0;   // part of `bytes`: weights
  uint64_t streamed_bytes = 0;  // weights copied to the device in every run; 0: all weights are resident
  double predicted_ms = 0;      // time of a run from published or assumed rates: to compare points
  // Options of a session without a memory budget that runs in the same way, except that it tiles no layers.
  SessionOptions options;
  uint32_t tiled_layers = 0;  // layers in strips (docs/memory.md), which only sessions with a budget use
};

struct MemoryFrontier {
  std::vector<FrontierPoint> points;  // in order of budgets
  // Index of the point below which saving memory costs much time: with memory and time scaled to 0..1, the
  // point with the smallest sum of both.
  size_t knee = 0;
};

struct FrontierOptions {
  // Budgets in bytes. Empty: the smallest that suffices, the bytes without a budget, 75, 50, 25 and 10% of
  // these, and steps between them. Budgets that are too small for the model are left out.
  std::vector<uint64_t> budgets;
  std::function<void(size_t done, size_t total)> progress;  // called before the first point and after each
};

// Finds the frontier of one combination of input shapes. Needs no device: sizes in memory are modelled.
// Throws the errors of estimate_memory(), and Error(invalid_argument) for options that exclude a memory
// budget.
VELLUM_API MemoryFrontier memory_frontier(const Model& model, const SessionOptions& options, const Caps& caps,
                                          const FrontierOptions& frontier_options = {});
// Finds the frontier with the sizes that the device reports for images and buffers, which predicts
// allocations exactly.
VELLUM_API MemoryFrontier memory_frontier(const Model& model, const SessionOptions& options,
                                          const Device& device, const FrontierOptions& frontier_options = {});

// Returns the index of the knee, see MemoryFrontier. `milliseconds`: the time of each point.
VELLUM_API size_t frontier_knee(const std::vector<FrontierPoint>& points,
                                const std::vector<double>& milliseconds);

// Returns a self-contained SVG document, 640 units wide: milliseconds over budgets, with the knee marked.
// `measured`: milliseconds of each point, drawn as a second line; may be empty. Throws
// Error(invalid_argument) for a frontier without points, and if `measured` has another number of points.
VELLUM_API std::string memory_frontier_svg(const std::string& title, const MemoryFrontier& frontier,
                                           const std::vector<double>& measured = {});

}  // namespace vellum

// Documents of a profile. Each function takes plain values and returns one document; none needs a device or
// session.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vellum/export.h"
#include "vellum/kernels.hpp"
#include "vellum/profile.hpp"

namespace vellum {

struct ProfileReport {
  std::string model;                  // its name in the document
  std::vector<std::string> subtitle;  // device, options: shown beside the title
  MemoryReport memory;
  std::vector<LayerTime> layers;        // Session::layer_times(), or its medians over several runs
  std::vector<LayerTime> run;           // Session::layer_times() of one run: begin and end of each task
  std::optional<KernelReport> kernels;  // empty: the driver reports nothing about kernels
};

// Returns a self-contained HTML page: the memory map, shared objects, bytes by category, time per layer,
// kernels. The page loads nothing else, and names from the model cannot become markup or script. Throws
// Error(invalid_argument) if a tensor names an object that does not exist.
VELLUM_API std::string profile_html(const ProfileReport& report);

// Returns the memory map alone as a self-contained SVG document, 1000 units wide: tasks from left to right,
// addresses upwards, a rectangle for each tensor. Throws Error(invalid_argument) if there is no object, or if
// a tensor names one that does not exist.
VELLUM_API std::string memory_map_svg(const MemoryReport& memory, const std::string& title);

// One of several networks that share a MemoryPool.
struct PooledNetwork {
  std::string name;
  MemoryReport memory;
};

// Returns the bytes of a pool for these networks: each arena is as large as the network that needs most of
// it.
VELLUM_API uint64_t pool_bytes(std::span<const PooledNetwork> networks);
// Draws the networks one after the other in the memory of their pool, as memory_map_svg() does.
VELLUM_API std::string memory_pool_svg(std::span<const PooledNetwork> networks, const std::string& title);

// Returns a trace in Chrome's trace event format, which Perfetto reads: a track for the queue with a slice
// for each task, a track for each shared object with its tensors, and the live bytes as a counter. If the
// device has no timestamps, every task takes one millisecond.
VELLUM_API std::string profile_trace(const ProfileReport& report);

}  // namespace vellum

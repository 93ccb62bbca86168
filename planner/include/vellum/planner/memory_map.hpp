// Draws a plan: time from left to right, addresses upwards, one rectangle for each tensor (the picture of
// strip packing in Sekiyama et al. 2018).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vellum/planner/plan_report.hpp"

namespace vellum::planner {

// Tensors over time and addresses. Addresses and sizes are in bytes, of all memory together.
struct MemoryMap {
  struct Tensor {
    int64_t first_task = 0, last_task = 0;  // both inclusive
    uint64_t address = 0, bytes = 0;
  };
  struct Object {
    uint64_t address = 0, bytes = 0;
    size_t tensors = 0;  // number of tensors that it holds
  };
  // One of several networks that share the memory: its name, and its first task, where a vertical line is
  // drawn.
  struct Section {
    int64_t first_task = 0;
    std::string name;
  };
  std::vector<Tensor> tensors;
  std::vector<Object> objects;  // empty if the memory is one arena
  std::vector<Section> sections;
  uint64_t bytes = 0;
  uint64_t lower_bound = 0;  // no plan is smaller; 0: not drawn
};

// Returns a self-contained SVG document, 1000 units wide. The unused rest of an object is grey. `names`: one
// tooltip for each tensor, or empty.
std::string memory_map_svg(const MemoryMap& map, std::span<const std::string> names,
                           const std::string& title);

// Draws a plan of these records. Objects are stacked, each as high as the bytes that the plan counts for it.
// `names`: one tooltip for each record, or empty.
std::string memory_map_svg(std::span<const TensorUsageRecord> records, std::span<const std::string> names,
                           const PlanRow& plan, const std::string& title);

}  // namespace vellum::planner

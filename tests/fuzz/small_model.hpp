// Models of the fuzz targets, and which of them are evaluated.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.hpp"
#include "vellum/model.hpp"

namespace vellum::test {

inline LoadLimits small_limits() {
  LoadLimits limits;
  limits.folded_bytes = uint64_t{64} << 20;
  limits.folded_work = 20'000'000;
  return limits;
}

// Whether all shapes are known, and an evaluation takes some milliseconds at most.
inline bool is_cheap(const Graph& graph) {
  constexpr uint64_t kMostWork = 3'000'000;  // elementary operations of an evaluation
  constexpr uint64_t kMostElements = 100'000;
  uint64_t work = 0;
  for (const Value& value : graph.values)
    if (!value.type_known || element_count(value.type.shape) < 0 ||
        static_cast<uint64_t>(element_count(value.type.shape)) > kMostElements)
      return false;
  for (const Node& node : graph.nodes) {
    std::vector<TensorType> outputs;
    for (const ValueId id : node.outputs)
      outputs.push_back(id == kNoValue ? TensorType{} : graph.values[id].type);
    work += node.op->work(operator_inputs(graph, node), outputs);
    if (work > kMostWork) return false;
  }
  return true;
}

}  // namespace vellum::test

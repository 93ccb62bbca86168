#include <set>

#include "estimate/estimate.hpp"
#include "passes/passes.hpp"

namespace vellum {

uint64_t shape_inference_bytes(const Graph& imported, const InputShapes& shapes, const InputTensors& values,
                               Precision precision) {
  Graph graph = imported;
  infer_shapes_and_fold(graph, shapes, values);
  const auto bytes_of = [&](const TensorType& type) {
    const bool is_float = type.dtype == DType::f32 || type.dtype == DType::f16 || type.dtype == DType::f64;
    const uint64_t element = is_float ? (precision == Precision::fp16 ? 2 : 4) : size_of(type.dtype);
    return static_cast<uint64_t>(checked_element_count(type.shape)) * element;
  };
  std::set<ValueId> counted;
  uint64_t bytes = 0;
  const auto count = [&](const std::vector<ValueId>& ids) {
    for (const ValueId id : ids)
      if (id != kNoValue && counted.insert(id).second) bytes += bytes_of(graph.values[id].type);
  };
  count(graph.inputs);
  for (const Node& node : graph.nodes) {
    count(node.inputs);
    count(node.outputs);
  }
  return bytes;
}

}  // namespace vellum

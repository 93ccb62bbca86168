// Any bytes as a model, in all stages that need no device: reading, passes, kernels, memory plan, barriers;
// and on the host reference, where that is little work.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <span>
#include <vector>

#include "api/impl.hpp"
#include "vellum/error.hpp"
#include "vellum/vellum.hpp"

namespace vellum {
namespace {

constexpr uint64_t kMostWork = 3'000'000;  // elementary operations of an evaluation
constexpr uint64_t kMostElements = 100'000;

bool is_small(const Value& value) {
  return value.type_known && element_count(value.type.shape) >= 0 &&
         static_cast<uint64_t>(element_count(value.type.shape)) <= kMostElements;
}

bool is_cheap(const Graph& graph) {
  uint64_t work = 0;
  for (const Value& value : graph.values)
    if (!is_small(value)) return false;
  for (const Node& node : graph.nodes) {
    std::vector<TensorType> outputs;
    for (const ValueId id : node.outputs)
      outputs.push_back(id == kNoValue ? TensorType{} : graph.values[id].type);
    work += node.op->work(operator_inputs(graph, node), outputs);
    if (work > kMostWork) return false;
  }
  return true;
}

void evaluate_on_host(const Graph& graph) {
  if (!is_cheap(graph)) return;
  std::vector<HostTensor> inputs;
  for (const ValueId id : graph.inputs)
    inputs.emplace_back(graph.values[id].type.dtype, graph.values[id].type.shape);
  evaluate(graph, inputs);
}

}  // namespace
}  // namespace vellum

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    vellum::LoadLimits limits;
    limits.folded_bytes = uint64_t{64} << 20;
    limits.folded_work = 20'000'000;
    const vellum::Model model = vellum::Model::load(std::as_bytes(std::span(data, size)), limits);
    vellum::describe(model, "barriers", {.planning = {.search_ms = 1}});
    vellum::evaluate_on_host(vellum::impl(model)->graph);
  } catch (const vellum::Error& error) {
    if (error.code() != vellum::ErrorCode::internal) return 0;
    std::cerr << "an internal error: " << error.what() << "\n";
    std::abort();
  }
  return 0;
}

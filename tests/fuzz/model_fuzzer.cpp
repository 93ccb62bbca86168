// Any bytes as a model, in all stages that need no device: reading, passes, kernels, memory plan, barriers;
// and on the host reference, where that is little work.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "api/impl.hpp"
#include "fuzz/small_model.hpp"
#include "vellum/error.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

void evaluate_on_host(const Graph& graph) {
  if (!is_cheap(graph)) return;
  std::vector<HostTensor> inputs;
  for (const ValueId id : graph.inputs)
    inputs.emplace_back(graph.values[id].type.dtype, graph.values[id].type.shape);
  evaluate(graph, inputs);
}

}  // namespace
}  // namespace vellum::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const vellum::Model model = vellum::test::load_with_limits(data, size);
    vellum::describe(model, "barriers", {.planning = {.search_ms = 1}});
    vellum::test::evaluate_on_host(vellum::impl(model)->graph);
  } catch (const vellum::Error& error) {
    if (error.code() != vellum::ErrorCode::internal) return 0;
    std::cerr << "an internal error: " << error.what() << "\n";
    std::abort();
  }
  return 0;
}

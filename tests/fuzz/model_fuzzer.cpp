// Any bytes as a model, in all stages that need no device: reading, passes, kernels, memory plan, barriers;
// and on the host reference, where that is little work. Calls the stages themselves, not the public
// interface, so that a sanitized build needs nothing of what holds Vulkan handles.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <span>
#include <vector>

#include "api/guard.hpp"
#include "api/model_format.hpp"
#include "compile/compile.hpp"
#include "fuzz/small_model.hpp"
#include "import/import.hpp"
#include "pack/graph.hpp"
#include "passes/shapes/shape_inputs.hpp"
#include "plan/memory_needs.hpp"

namespace vellum::test {
namespace {

// As Model::load() does.
Graph read(std::span<const std::byte> bytes) {
  if (model_format(bytes) != ModelFormat::packed) return import_model(bytes, small_limits());
  return packfile::read_graph(std::make_shared<const packfile::File>(bytes), small_limits());
}

void evaluate_on_host(const Graph& graph) {
  if (!is_cheap(graph)) return;
  std::vector<HostTensor> inputs;
  for (const ValueId id : graph.inputs)
    inputs.emplace_back(graph.values[id].type.dtype, graph.values[id].type.shape);
  evaluate(graph, inputs);
}

void compile(const Graph& graph) {
  const DeviceCaps caps;
  CompileOptions options;
  options.plan.search_budget = std::chrono::milliseconds(1);
  options.memory_rules = modelled_rules(caps);
  find_shape_inputs(graph);
  to_text(compile_prepared(prepare_graph(graph, caps, options), caps, options, Stage::barriers),
          Stage::barriers);
}

}  // namespace
}  // namespace vellum::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    vellum::guard([&] {
      const vellum::Graph graph = vellum::test::read(std::as_bytes(std::span(data, size)));
      vellum::test::compile(graph);
      vellum::test::evaluate_on_host(graph);
    });
  } catch (const vellum::Error& error) {
    if (error.code() != vellum::ErrorCode::internal) return 0;
    std::cerr << "an internal error: " << error.what() << "\n";
    std::abort();
  }
  return 0;
}

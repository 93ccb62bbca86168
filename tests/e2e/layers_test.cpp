// Every intermediate value of the real models equals the host reference: names the first layer that differs.
#include <gtest/gtest.h>

#include <cmath>

#include "exec/executor.hpp"
#include "import/import.hpp"
#include "kernels/framework/lowering.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "passes/passes.hpp"
#include "support/fetched_model.hpp"
#include "support/gpu_test.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

class Layers : public testing::TestWithParam<std::tuple<FetchedModel, StorageChoice>> {};

std::string case_name(const testing::TestParamInfo<std::tuple<FetchedModel, StorageChoice>>& info) {
  static const char* const storages[] = {"automatic", "image2d", "image3d", "buffer"};
  return std::get<0>(info.param).name + "_" + storages[static_cast<int>(std::get<1>(info.param))];
}

TEST_P(Layers, AgreeWithTheHostReference) {
  const auto& [which, storage] = GetParam();
  Graph graph = optimise(import_model(which.model()), {});
  fuse(graph, test_context()->caps(), Precision::fp32);
  std::vector<std::string> producers;
  graph.outputs.clear();
  for (const Node& node : graph.nodes)
    for (ValueId id : node.outputs) {
      graph.outputs.push_back(id);
      producers.push_back(describe(node));
    }
  const std::vector<HostTensor> inputs{which.input()};
  const std::vector<HostTensor> want = evaluate(graph, inputs);
  Executor executor(test_context(), compile_program(test_context(), lower(graph, test_context()->caps(),
                                                                          {.storage = storage})));
  executor.set_input(0, inputs[0]);
  executor.run();
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_LE(distance_of_sums(executor.output(i), want[i]), 1e-4)
        << producers[i] << " -> '" << graph.values[graph.outputs[i]].name << "' "
        << to_string(want[i].shape());
}

INSTANTIATE_TEST_SUITE_P(All, Layers,
                         testing::Combine(testing::ValuesIn(small_fetched_models()),
                                          testing::Values(StorageChoice::image2d, StorageChoice::image3d,
                                                          StorageChoice::buffer)),
                         case_name);

}  // namespace
}  // namespace vellum::test

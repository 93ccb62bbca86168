// The fetched models on the host reference: what ONNX Runtime computes, before and after every pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "import/import.hpp"
#include "passes/passes.hpp"
#include "support/fetched_model.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

class ModelsOnHost : public testing::TestWithParam<FetchedModel> {
 protected:
  std::vector<HostTensor> run(const Graph& graph) const {
    return evaluate(graph, std::vector{GetParam().input()});
  }

  // 1e-4, or as close as ONNX Runtime gets to itself when it rounds in another order: M-LSD's last
  // convolution cancels large sums, and no fp32 engine gets within 1e-4 of another there.
  double tolerance(const std::string& output) const {
    return std::max(1e-4,
                    2 * distance(GetParam().output_rounded_otherwise(output), GetParam().output(output)));
  }

  void expect_matches_reference(const Graph& graph) const {
    const auto outputs = run(graph);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string& name = graph.values[graph.outputs[i]].name;
      EXPECT_TRUE(close(outputs[i], GetParam().output(name), tolerance(name))) << name;
    }
  }

  static size_t count(const Graph& graph, std::string_view type) {
    size_t found = 0;
    for (const Node& node : graph.nodes) found += node.op->type() == type;
    return found;
  }
};

TEST_P(ModelsOnHost, ImportedGraphComputesWhatOnnxRuntimeDoes) {
  expect_matches_reference(import_model(GetParam().model()));
}

TEST_P(ModelsOnHost, EveryPassKeepsTheResult) {
  Graph graph = import_model(GetParam().model());
  const auto expected = run(graph);
  const std::vector<std::pair<std::string, std::function<void(Graph&)>>> passes = {
      {"infer_shapes_and_fold", [](Graph& g) { infer_shapes_and_fold(g, {}); }},
      {"remove_identities", remove_identities},
      {"merge_reshapes", merge_reshapes},
      {"concat_zeros_to_pad", concat_zeros_to_pad},
      {"fuse_channel_shuffle", fuse_channel_shuffle},
      {"nest_concats", nest_concats},
      {"fuse_pad", fuse_pad},
      {"fold_batch_norm", fold_batch_norm},
      {"fold_scale", fold_scale},
      {"fuse_bias", fuse_bias},
      {"fuse_residual", fuse_residual},
      {"fuse_activations", fuse_activations},
      {"share_constants", share_constants},
      {"remove_dead_code", remove_dead_code}};
  for (const auto& [name, pass] : passes) {
    pass(graph);
    check(graph);
    const auto outputs = run(graph);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string& output = graph.values[graph.outputs[i]].name;
      EXPECT_TRUE(close(outputs[i], expected[i], tolerance(output))) << output << " after " << name;
    }
  }
}

TEST_P(ModelsOnHost, OptimisedGraphComputesTheSameWithFewerNodes) {
  const Graph imported = import_model(GetParam().model());
  const Graph graph = optimise(imported, {});
  EXPECT_LT(graph.nodes.size(), imported.nodes.size() * 4 / 5);
  for (const std::string_view gone : {"ConstantOfShape", "Shape", "Clip", "Relu"})
    EXPECT_EQ(count(graph, gone), 0u) << gone;
  expect_matches_reference(graph);
}

INSTANTIATE_TEST_SUITE_P(Fetched, ModelsOnHost, testing::ValuesIn(small_fetched_models()),
                         [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace vellum::test

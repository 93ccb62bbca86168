// The fetched models on the host reference: what ONNX Runtime computes, before and after every pass; in
// double, what counts as exact; and how far rounding moves that, which the tolerances are made of.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "import/import.hpp"
#include "passes/passes.hpp"
#include "support/agreement.hpp"
#include "support/rounding_study.hpp"

namespace vellum::test {
namespace {

class ModelsOnHost : public testing::TestWithParam<FetchedModel> {
 protected:
  std::vector<HostTensor> run(const Graph& graph) const {
    return evaluate(graph, std::vector{GetParam().input()});
  }

  static const std::string& output_name(const Graph& graph, size_t index) {
    return graph.values[graph.outputs[index]].name;
  }

  void expect_matches_reference(const Graph& graph) const {
    const auto outputs = run(graph);
    for (size_t i = 0; i < outputs.size(); ++i)
      EXPECT_EQ(disagreement(GetParam(), output_name(graph, i), outputs[i], Rounding::fp32), "");
  }

  // Whether both compute the same by the same operators and constants, so that one of them need not run.
  static bool is_unchanged(const Graph& graph, const Graph& before) {
    const auto same_constant = [](const Value& a, const Value& b) {  // copies share their bytes
      return a.constant.has_value() == b.constant.has_value() &&
             (!a.constant || a.constant->data() == b.constant->data());
    };
    return to_text(graph) == to_text(before) &&
           std::ranges::equal(graph.values, before.values, same_constant);
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

// ONNX Runtime's result is as near to the exact one as the table says that an engine in float gets.
TEST_P(ModelsOnHost, InDoubleItIsWhatOnnxRuntimeComputesUpToRounding) {
  const FetchedModel& model = GetParam();
  const Graph imported = import_model(model.model());
  const RoundingStudy study = rounding_study(model);
  for (size_t i = 0; i < study.exact().size(); ++i) {
    const std::string& name = output_name(imported, i);
    const HostTensor engine =
        model.suppressed.contains(name) ? model.before_suppression(name) : model.output(name);
    const Distance found = distance_between(engine, study.exact()[i]);
    const Distance& spread = model.spread.at(name)[static_cast<size_t>(Rounding::fp32)];
    EXPECT_LE(found.largest, spread.largest) << name;
    EXPECT_LE(found.root_mean_square, spread.root_mean_square) << name;
  }
}

TEST_P(ModelsOnHost, EveryPassKeepsTheResult) {
  Graph graph = import_model(GetParam().model());
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
      {"merge_convolutions", merge_convolutions},
      {"merge_depthwise_banks", merge_depthwise_banks},
      {"fuse_residual", fuse_residual},
      {"fuse_activations", fuse_activations},
      {"share_constants", share_constants},
      {"remove_dead_code", remove_dead_code}};
  for (const auto& [name, pass] : passes) {
    const Graph before = graph;
    pass(graph);
    check(graph);
    if (is_unchanged(graph, before)) continue;
    SCOPED_TRACE(name);
    expect_matches_reference(graph);
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

// tests/rounding.json is what e2e/rounding_table.cpp writes, on any machine.
TEST(RoundingTable, IsWhatTheStudySays) {
  const FetchedModel& model = fetched_model("blazeface_front");
  const RoundingStudy study = rounding_study(model);
  for (const Rounding rounding : {Rounding::fp32, Rounding::fp16, Rounding::halves})
    for (const auto& [output, spread] : rounding_spread(model, study, rounding)) {
      const Distance& told = model.spread.at(output)[static_cast<size_t>(rounding)];
      SCOPED_TRACE(output + ", " + std::string(rounding_name(rounding)));
      EXPECT_NEAR(spread.largest, told.largest, 0.01 * told.largest);
      EXPECT_NEAR(spread.root_mean_square, told.root_mean_square, 0.01 * told.root_mean_square);
    }
}

}  // namespace
}  // namespace vellum::test

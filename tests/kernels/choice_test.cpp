// Which kernel candidate computes an operator, and that each of them is right.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace choice_test {

using Names = std::vector<std::string>;

const std::vector<KernelName> kThree{{"a"}, {"b"}, {"c"}};

OperatorCase conv(const Shape& x, const Shape& w, int64_t pad, int64_t group = 1) {
  OperatorCase test;
  test.type = "Conv";
  test.inputs = {random_tensor(x, 1), random_tensor(w, 2, -0.2f, 0.2f), random_tensor({w[0]}, 3)};
  test.constants = {1, 2};
  test.attributes.set("pads", Attributes::Ints{pad, pad, pad, pad});
  test.attributes.set("group", group);
  test.sweep.winograd = Winograd::automatic;
  test.sweep.fp32_tolerance = 1e-4;  // Winograd with tiles of 4
  return test;
}

struct Lowered {
  Choice choice;
  Program program;
};

// `table` as what was measured.
Lowered lower_one(const OperatorCase& test, const TuningTable* table, LoweringOptions options = {}) {
  std::vector<Choice> choices;
  options.inputs_to_channels4 = test.sweep.channels4_inputs;
  options.winograd = test.sweep.winograd;
  options.tuning = table;
  options.choices = &choices;
  Program program = lower(single_node_graph(test), test_context()->caps(), options);
  EXPECT_EQ(choices.size(), 1u);
  return {choices.at(0), std::move(program)};
}

TEST(Choice, TakesWhatWasMeasuredClearlyQuickest) {
  TuningTable table;
  EXPECT_EQ(quickest(nullptr, "op", kThree), 0u);
  EXPECT_EQ(quickest(&table, "op", kThree), 0u);
  table.operators["op"] = {{"a", 10}, {"b", 5}, {"c", 4}};
  EXPECT_EQ(quickest(&table, "op", kThree), 2u);
  EXPECT_EQ(quickest(&table, "another", kThree), 0u);
  table.operators["op"] = {{"a", 10}, {"b", 9.9}, {"c", 9.8}};
  EXPECT_EQ(quickest(&table, "op", kThree), 0u) << "noise decides nothing";
}

TEST(Choice, WhatTheTableOrTheKernelDoesNotKnowDoesNotCount) {
  TuningTable table;
  table.operators["op"] = {{"a", 10}, {"b", 5}, {"gone", 1}};
  EXPECT_EQ(quickest(&table, "op", kThree), 1u);
  table.operators["op"] = {{"gone", 1}};
  EXPECT_EQ(quickest(&table, "op", kThree), 0u);
  table.operators["op"] = {{"b", 1}};
  EXPECT_EQ(quickest(&table, "op", kThree), 0u) << "quicker than what?";
}

TEST(Choice, TheLeastPredictedCostWinsUnmeasured) {
  const std::vector<KernelPrediction> predictions{
      {{"a"}, 3}, {{"b", "2"}, 0.5}, {{"b", "3"}, 0.5}, {{"c"}, 1}};
  EXPECT_EQ(by_predicted_cost(predictions), (std::vector<size_t>{1, 2, 3, 0})) << "and of equals the first";
  EXPECT_EQ(by_predicted_cost({}), std::vector<size_t>{});
}

TEST(Choice, TheTableDecidesHowAnOperatorIsLowered) {
  const OperatorCase test = conv({1, 32, 16, 16}, {32, 32, 3, 3}, 1);
  const Lowered plain = lower_one(test, nullptr);
  EXPECT_EQ(plain.choice.taken, 0u);
  EXPECT_EQ(plain.choice.node, 0u);
  TuningTable table;
  table.operators[plain.choice.signature] = {{plain.choice.candidates.front().text(), 2.0},
                                             {"winograd2 8x2", 1.0}};
  const Lowered chosen = lower_one(test, &table);
  EXPECT_EQ(chosen.choice.candidates[chosen.choice.taken].text(), "winograd2 8x2");
  EXPECT_NE(to_text(chosen.program), to_text(plain.program));
  // With Winograd off, the table cannot select it.
  OperatorCase without = test;
  without.sweep.winograd = Winograd::off;
  EXPECT_EQ(to_text(lower_one(without, &table).program), to_text(plain.program));
}

TEST(Choice, SignaturesTellApartWhatRunsAtAnotherSpeed) {
  std::set<std::string> signatures;
  const auto add = [&](const OperatorCase& test, LoweringOptions options = {}) {
    signatures.insert(lower_one(test, nullptr, std::move(options)).choice.signature);
  };
  const OperatorCase test = conv({1, 8, 6, 6}, {8, 8, 3, 3}, 1);
  add(test);
  add(conv({1, 8, 6, 5}, {8, 8, 3, 3}, 1));
  add(conv({1, 8, 6, 6}, {8, 8, 3, 3}, 2));
  add(conv({1, 8, 6, 6}, {8, 8, 1, 1}, 0));
  add(conv({1, 8, 6, 6}, {8, 1, 3, 3}, 1, 8));
  OperatorCase other = test;
  other.activation = {ActivationKind::hard_swish};
  add(other);
  other = test;
  other.sweep.channels4_inputs = false;
  add(other);
  add(test, {.precision = Precision::fp16});
  add(test, {.storage = StorageChoice::image2d});
  add(test, {.storage = StorageChoice::buffer});
  // One of the last two is what `automatic` means.
  EXPECT_EQ(signatures.size(), 9u);
}

TEST(Choice, EveryAlgorithmOfADenseConvolutionIsRight) {
  const Names candidates = check_candidates(conv({2, 19, 14, 17}, {18, 19, 3, 3}, 1));
  for (const char* kernel : {"direct ", "direct rows ", "winograd2 ", "winograd4 "})
    EXPECT_TRUE(std::any_of(candidates.begin(), candidates.end(), [&](const std::string& name) {
      return name.rfind(kernel, 0) == 0;
    })) << kernel;
}

TEST(Choice, EveryTileOfOtherConvolutionsIsRight) {
  EXPECT_GT(check_candidates(conv({1, 13, 9, 11}, {18, 13, 1, 1}, 0)).size(), 3u);
  EXPECT_GT(check_candidates(conv({1, 9, 7, 11}, {9, 1, 5, 5}, 2, 9)).size(), 1u);
  EXPECT_GT(check_candidates(conv({1, 24, 9, 11}, {36, 8, 3, 3}, 1, 3)).size(), 3u);
}

}  // namespace choice_test
}  // namespace vellum::test

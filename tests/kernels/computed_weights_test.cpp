// Weights, scales and biases that are computed at run time.
#include <gtest/gtest.h>

#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace computed_weights_test {

using Ints = Attributes::Ints;

OperatorCase conv_case(std::string type, Shape x, Shape w, int64_t filters, int64_t group = 1) {
  OperatorCase test{.type = std::move(type),
                    .inputs = {random_tensor(std::move(x), 1), random_tensor(std::move(w), 2)}};
  if (filters > 0) test.inputs.push_back(random_tensor({filters}, 3));
  test.attributes.set("group", group);
  return test;
}

TEST(ComputedWeights, Conv) {
  check_operator(conv_case("Conv", {2, 5, 6, 7}, {9, 5, 3, 2}, 9));
  check_operator(conv_case("Conv", {1, 6, 5, 5}, {7, 6, 1, 1}, 0));
  check_operator(conv_case("Conv", {1, 6, 5, 5}, {6, 1, 3, 3}, 6, 6));
}

TEST(ComputedWeights, ConvWithOneOfThemConstant) {
  OperatorCase test = conv_case("Conv", {2, 5, 6, 7}, {9, 5, 3, 2}, 9);
  for (const size_t constant : {1, 2}) {
    test.constants = {constant};
    check_operator(test);
  }
}

TEST(ComputedWeights, ConvTranspose) {
  OperatorCase test = conv_case("ConvTranspose", {2, 4, 4, 3}, {4, 3, 3, 2}, 6, 2);
  test.attributes.set("strides", Ints{2, 1});
  check_operator(test);
}

OperatorCase norm_case(std::string type, Shape shape, const std::vector<Shape>& factors) {
  OperatorCase test{.type = std::move(type), .inputs = {random_tensor(std::move(shape), 4, -2.0f, 3.0f)}};
  uint32_t seed = 5;
  for (const Shape& factor : factors) test.inputs.push_back(random_tensor(factor, seed++, 0.5f, 1.5f));
  test.sweep.fp32_tolerance = 3e-5;
  test.sweep.fp16_tolerance = 2e-2;
  test.opset = 21;
  return test;
}

TEST(ComputedWeights, Normalizations) {
  for (const Shape& shape : {Shape{2, 5, 3, 7}, Shape{2, 6, 5}, Shape{3, 7}})
    check_operator(norm_case("BatchNormalization", shape, {{shape[1]}, {shape[1]}, {shape[1]}, {shape[1]}}));
  check_operator(norm_case("InstanceNormalization", {2, 5, 3, 7}, {{5}, {5}}));
  OperatorCase group = norm_case("GroupNormalization", {2, 6, 3, 5}, {{6}, {6}});
  group.attributes.set("num_groups", int64_t{3});
  check_operator(group);
  group = norm_case("GroupNormalization", {2, 6, 3, 5}, {{3}, {3}});
  group.attributes.set("num_groups", int64_t{3});
  check_operator(group);
}

TEST(ComputedWeights, LayerNormalizationAndScalesThatBroadcast) {
  for (const bool constant : {false, true}) {
    for (const auto& factors :
         {std::vector<Shape>{{3, 5}, {3, 5}}, {{3, 1}, {5}}, {{3, 5}}, {{2, 1, 1}, {1}}}) {
      OperatorCase test = norm_case("LayerNormalization", {2, 3, 5}, factors);
      test.attributes.set("axis", int64_t{1});
      if (constant) test.constants = {1, 2};
      check_operator(test);
    }
  }
}

TEST(ComputedWeights, LayerNormalizationWithItsStatistics) {
  OperatorCase test = norm_case("LayerNormalization", {2, 3, 7}, {{7}, {7}});
  test.output_count = 3;
  check_operator(test);
  test.constants = {1, 2};
  check_operator(test);
  test.attributes.set("axis", int64_t{0});
  test.inputs = {random_tensor({3, 5}, 4, -2.0f, 3.0f), random_tensor({3, 5}, 5)};
  test.constants = {1};
  check_operator(test);
}

}  // namespace computed_weights_test
}  // namespace vellum::test

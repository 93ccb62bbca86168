// ConvTranspose on every storage and precision against the host reference.
#include <gtest/gtest.h>

#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace conv_transpose_test {

using Ints = Attributes::Ints;

OperatorCase conv_transpose(Shape x, Shape w,
                            std::initializer_list<std::pair<const char*, Attributes::Value>> with = {},
                            bool bias = true) {
  OperatorCase test;
  test.type = "ConvTranspose";
  for (const auto& [name, value] : with) test.attributes.set(name, value);
  const int64_t filters = w[1] * test.attributes.get_int("group", 1);
  test.inputs = {random_tensor(std::move(x), 1), random_tensor(std::move(w), 2)};
  test.constants = {1};
  if (bias) {
    test.inputs.push_back(random_tensor({filters}, 3));
    test.constants.insert(2);
  }
  test.sweep.linear_inputs = false;
  return test;
}

TEST(ConvTranspose, CommonUpsamplings) {
  check_operator(conv_transpose({1, 8, 5, 7}, {8, 6, 2, 2}, {{"strides", Ints{2, 2}}}));
  check_operator(
      conv_transpose({2, 5, 6, 5}, {5, 9, 4, 4}, {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}));
  check_operator(
      conv_transpose({1, 6, 5, 9}, {6, 3, 3, 3},
                     {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}, {"output_padding", Ints{1, 1}}}));
}

TEST(ConvTranspose, UnevenStridesAndPadding) {
  check_operator(
      conv_transpose({1, 3, 7, 6}, {3, 5, 3, 4}, {{"strides", Ints{1, 3}}, {"pads", Ints{0, 2, 1, 0}}}));
  check_operator(conv_transpose({1, 4, 4, 4}, {4, 4, 3, 3}, {{"pads", Ints{2, 2, 2, 2}}}, false));
}

TEST(ConvTranspose, Dilations) {
  check_operator(
      conv_transpose({1, 3, 5, 6}, {3, 4, 3, 3}, {{"dilations", Ints{2, 3}}, {"strides", Ints{2, 2}}}));
}

// Pixels that no tap reaches hold the bias alone.
TEST(ConvTranspose, StrideBeyondTheKernel) {
  check_operator(conv_transpose({2, 3, 3, 4}, {3, 5, 2, 1}, {{"strides", Ints{3, 4}}}));
  check_operator(conv_transpose({1, 3, 1, 1}, {3, 4, 2, 2}, {{"strides", Ints{7, 7}}}));
}

TEST(ConvTranspose, GivenOutputShapes) {
  check_operator(
      conv_transpose({1, 3, 5, 5}, {3, 2, 3, 3}, {{"strides", Ints{2, 2}}, {"output_shape", Ints{10, 12}}}));
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER"})
    check_operator(conv_transpose({1, 3, 4, 5}, {3, 2, 4, 3}, {{"strides", Ints{2, 2}}, {"auto_pad", mode}}));
}

TEST(ConvTranspose, Groups) {
  const Attributes::Value two = int64_t{2}, three = int64_t{3}, six = int64_t{6};
  check_operator(conv_transpose({1, 16, 3, 5}, {16, 8, 3, 3}, {{"group", two}, {"strides", Ints{2, 2}}}));
  check_operator(conv_transpose({1, 9, 4, 3}, {9, 5, 2, 2}, {{"group", three}}));
  check_operator(conv_transpose({2, 6, 4, 4}, {6, 1, 4, 4},
                                {{"group", six}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}));
}

TEST(ConvTranspose, OneDimension) {
  check_operator(conv_transpose({2, 5, 9}, {5, 6, 3}, {{"strides", Ints{2}}}));
}

TEST(ConvTranspose, FusedActivation) {
  OperatorCase test = conv_transpose({1, 6, 4, 9}, {6, 5, 2, 2}, {{"strides", Ints{2, 2}}});
  test.activation = {ActivationKind::relu};
  check_operator(test);
}

}  // namespace conv_transpose_test
}  // namespace vellum::test

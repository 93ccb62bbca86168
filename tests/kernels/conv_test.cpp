// Conv on every storage and precision against the host reference.
#include <gtest/gtest.h>

#include <limits>

#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace conv_test {

using Ints = Attributes::Ints;

Attributes attributes(std::initializer_list<std::pair<const char*, Attributes::Value>> values) {
  Attributes result;
  for (const auto& [name, value] : values) result.set(name, value);
  return result;
}

// Weights and bias are constants. The conversion from linear inputs is checked elsewhere.
OperatorCase conv(Shape x, Shape w, Attributes with = {}, bool bias = true) {
  OperatorCase test;
  test.type = "Conv";
  const int64_t filters = w[0];
  test.inputs = {random_tensor(std::move(x), 1), random_tensor(std::move(w), 2)};
  test.constants = {1};
  if (bias) {
    test.inputs.push_back(random_tensor({filters}, 3));
    test.constants.insert(2);
  }
  test.attributes = std::move(with);
  test.sweep.linear_inputs = false;
  return test;
}

TEST(Conv, WindowsOfAllSizes) {
  check_operator(conv({1, 3, 9, 13}, {5, 3, 3, 3}, attributes({{"pads", Ints{1, 1, 1, 1}}})));
  check_operator(conv({2, 5, 7, 11}, {6, 5, 5, 5}, attributes({{"pads", Ints{2, 2, 2, 2}}})));
  check_operator(conv({1, 4, 8, 17}, {9, 4, 2, 4}));
  check_operator(conv({1, 1, 3, 3}, {1, 1, 3, 3}));
}

TEST(Conv, TakesLinearInputs) {
  OperatorCase test = conv({2, 5, 4, 6}, {7, 5, 3, 3});
  test.sweep.linear_inputs = true;
  check_operator(test);
}

TEST(Conv, StridesAndUnevenPadding) {
  check_operator(
      conv({1, 6, 12, 13}, {10, 6, 3, 3}, attributes({{"strides", Ints{2, 2}}, {"pads", Ints{0, 0, 1, 1}}})));
  check_operator(
      conv({2, 3, 11, 7}, {4, 3, 5, 3}, attributes({{"strides", Ints{3, 1}}, {"pads", Ints{2, 0, 1, 3}}})));
  check_operator(conv({1, 5, 9, 9}, {4, 5, 1, 1}, attributes({{"strides", Ints{2, 2}}})));
  check_operator(conv({1, 5, 4, 4}, {4, 5, 1, 1}, attributes({{"pads", Ints{1, 0, 0, 2}}})));
}

TEST(Conv, AutomaticPadding) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"})
    check_operator(
        conv({1, 3, 10, 11}, {4, 3, 4, 4}, attributes({{"auto_pad", mode}, {"strides", Ints{2, 2}}})));
}

TEST(Conv, Dilations) {
  check_operator(conv({1, 4, 15, 16}, {6, 4, 3, 3},
                      attributes({{"dilations", Ints{2, 3}}, {"pads", Ints{2, 3, 2, 3}}})));
  check_operator(
      conv({1, 3, 9, 9}, {4, 3, 3, 3}, attributes({{"dilations", Ints{5, 5}}, {"pads", Ints{5, 5, 5, 5}}})));
}

TEST(Conv, WindowLargerThanTheInput) {
  check_operator(conv({1, 3, 2, 3}, {4, 3, 7, 7}, attributes({{"pads", Ints{3, 3, 3, 3}}})));
}

TEST(Conv, NarrowAndFlatImages) {
  check_operator(conv({2, 7, 13, 1}, {5, 7, 3, 1}, attributes({{"pads", Ints{1, 0, 1, 0}}})));
  check_operator(conv({2, 7, 1, 13}, {5, 7, 1, 3}, attributes({{"pads", Ints{0, 1, 0, 1}}})));
  check_operator(conv({3, 8, 1, 1}, {12, 8, 3, 3}, attributes({{"pads", Ints{1, 1, 1, 1}}})));
}

TEST(Conv, Pointwise) {
  check_operator(conv({1, 24, 8, 8}, {28, 24, 1, 1}));
  check_operator(conv({3, 13, 5, 7}, {11, 13, 1, 1}, {}, false));
  check_operator(conv({1, 37, 1, 1}, {41, 37, 1, 1}));
  check_operator(conv({5, 3, 1, 2}, {2, 3, 1, 1}));
}

TEST(Conv, OneDimension) {
  check_operator(conv({2, 5, 19}, {7, 5, 3}, attributes({{"pads", Ints{1, 2}}})));
  check_operator(conv({1, 6, 12}, {6, 1, 5}, attributes({{"group", int64_t{6}}, {"strides", Ints{2}}})));
  check_operator(conv({2, 6, 9}, {3, 6, 1}));
}

TEST(Conv, GroupsOfWholeSlices) {
  check_operator(
      conv({1, 16, 6, 9}, {24, 8, 3, 3}, attributes({{"group", int64_t{2}}, {"pads", Ints{1, 1, 1, 1}}})));
  check_operator(conv({2, 12, 5, 5}, {12, 4, 1, 1}, attributes({{"group", int64_t{3}}})));
}

TEST(Conv, GroupsThatShareSlices) {
  check_operator(
      conv({1, 9, 6, 7}, {15, 3, 3, 3}, attributes({{"group", int64_t{3}}, {"pads", Ints{1, 1, 1, 1}}})));
  check_operator(conv({2, 10, 5, 6}, {10, 2, 3, 3}, attributes({{"group", int64_t{5}}})));
  check_operator(conv({1, 14, 4, 5}, {4, 7, 1, 1}, attributes({{"group", int64_t{2}}})));
  check_operator(conv({1, 12, 4, 5}, {36, 6, 3, 1}, attributes({{"group", int64_t{2}}})));
}

TEST(Conv, Depthwise) {
  for (int64_t kernel : {3, 5})
    for (int64_t stride : {1, 2})
      check_operator(
          conv({2, 6, 11, 13}, {6, 1, kernel, kernel},
               attributes(
                   {{"group", int64_t{6}}, {"strides", Ints{stride, stride}}, {"pads", Ints{1, 1, 2, 2}}})));
  check_operator(
      conv({1, 5, 9, 7}, {5, 1, 7, 4}, attributes({{"group", int64_t{5}}, {"pads", Ints{3, 2, 3, 1}}})));
  check_operator(conv({1, 8, 10, 9}, {8, 1, 3, 3},
                      attributes({{"group", int64_t{8}}, {"dilations", Ints{2, 2}}}), false));
  check_operator(
      conv({1, 8, 10, 1}, {8, 1, 3, 3},
           attributes({{"group", int64_t{8}}, {"strides", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}})));
}

TEST(Conv, DepthwiseWithChannelMultiplier) {
  check_operator(
      conv({1, 6, 7, 7}, {12, 1, 3, 3}, attributes({{"group", int64_t{6}}, {"pads", Ints{1, 1, 1, 1}}})));
  check_operator(conv({2, 3, 5, 6}, {9, 1, 3, 3}, attributes({{"group", int64_t{3}}})));
}

TEST(Conv, ManyChannelsAndTiles) {
  OperatorCase test = conv({1, 67, 9, 21}, {71, 67, 3, 3}, attributes({{"pads", Ints{1, 1, 1, 1}}}));
  test.sweep.fp32_tolerance = 3e-5;  // sums of 603 products, in another order than the reference's
  check_operator(test);
}

// Large operators have kernels of their own; see preferred_tile().
TEST(Conv, LargeOperators) {
  OperatorCase row = conv({1, 60, 25, 31}, {61, 60, 3, 3}, attributes({{"pads", Ints{1, 1, 1, 1}}}));
  OperatorCase strided = conv({1, 60, 50, 61}, {61, 60, 3, 3},
                              attributes({{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}}));
  OperatorCase pointwise = conv({1, 256, 43, 49}, {256, 256, 1, 1});
  for (OperatorCase* test : {&row, &strided, &pointwise}) {
    test->sweep.fp32_tolerance = 3e-5;
    check_operator(*test);
  }
}

// Fewer channels than a texel holds are all that is multiplied.
TEST(Conv, FirstLayers) {
  const Attributes strided = attributes({{"pads", Ints{3, 3, 3, 3}}, {"strides", Ints{2, 2}}});
  for (const int64_t channels : {1, 2, 3}) {
    check_operator(conv({2, channels, 19, 23}, {9, channels, 7, 7}, strided));
    check_operator(conv({1, channels, 8, 9}, {5, channels, 3, 3}));
  }
}

// Under the Android Baseline's limits these tensors and weights do not fit images, and mix with those that
// do.
TEST(Conv, ExtentsBeyondTheImageLimit) {
  check_operator(conv({1, 3, 1, 4500}, {4, 3, 1, 3}));
  check_operator(conv({1, 5, 4500, 1}, {6, 5, 3, 1}, attributes({{"strides", Ints{2, 1}}})));
  OperatorCase weights = conv({1, 4100, 1, 3}, {5, 4100, 1, 1});
  weights.sweep.fp32_tolerance = 1e-4;  // sums of 4100 products
  check_operator(weights);
}

TEST(Conv, FusedActivations) {
  const Shape x = {1, 6, 5, 9};
  const Attributes same = attributes({{"pads", Ints{1, 1, 1, 1}}});
  for (const Activation& activation :
       {Activation{ActivationKind::relu}, Activation{ActivationKind::clip, -0.25f, 0.75f},
        Activation{ActivationKind::silu},
        Activation{.kind = ActivationKind::clip, .beta = 1.0f, .scale = -2.0f, .shift = 0.5f}}) {
    OperatorCase test = conv(x, {7, 6, 3, 3}, same);
    test.activation = activation;
    check_operator(test);
  }
  OperatorCase pointwise = conv(x, {7, 6, 1, 1});
  pointwise.activation = {ActivationKind::leaky_relu, 0.125f};
  check_operator(pointwise);
  OperatorCase depthwise = conv(x, {6, 1, 3, 3}, attributes({{"group", int64_t{6}}}));
  depthwise.activation = {.kind = ActivationKind::hard_swish, .scale = 1.5f, .shift = -0.75f};
  check_operator(depthwise);
}

// No activation, Relu and Clip are one variant, which must not bound what has no bounds.
TEST(Conv, BoundsThatAreOpenOrCross) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Activation& activation :
       {Activation{}, Activation{ActivationKind::relu}, Activation{ActivationKind::clip, -infinity, 0.25f},
        Activation{ActivationKind::clip, 0.75f, 0.25f}, Activation{.scale = -2.0f, .shift = 0.5f}}) {
    OperatorCase test = conv({1, 6, 5, 9}, {7, 6, 1, 1});
    test.activation = activation;
    check_operator(test);
    test = conv({1, 6, 5, 9}, {7, 6, 3, 3});
    test.activation = activation;
    test.inputs[0]->mutable_as<float>()[17] = infinity;
    test.sweep.fp16 = false;
    check_operator(test);
  }
}

// Forms without a kernel run on the host, and are right all the same.
TEST(Conv, FormsWithoutKernelRunOnTheHost) {
  OperatorCase volume = conv({1, 2, 3, 4, 5}, {3, 2, 2, 2, 2});
  volume.sweep.channels4_inputs = false;
  volume.sweep.linear_inputs = volume.sweep.host_allowed = true;
  check_operator(volume);
  OperatorCase dynamic = conv({1, 3, 5, 6}, {4, 3, 3, 3});
  dynamic.constants.clear();
  dynamic.sweep.host_allowed = true;
  check_operator(dynamic);
}

}  // namespace conv_test
}  // namespace vellum::test

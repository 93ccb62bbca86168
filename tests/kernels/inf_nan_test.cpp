// NaN and infinities where shaders declare that they compute with them, as on MoltenVK.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "graph/operators/conv/conv.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace inf_nan_test {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Every fourth element is a NaN or an infinity.
HostTensor with_extremes(Shape shape, uint32_t seed) {
  HostTensor tensor = random_tensor(std::move(shape), seed);
  const std::span<float> values = tensor.mutable_as<float>();
  const float extremes[] = {kNan, kInfinity, -kInfinity};
  for (size_t i = 0; i < values.size(); i += 4) values[i] = extremes[(i / 4) % 3];
  return tensor;
}

void check(OperatorCase test) {
  DeviceCaps caps = test_context()->caps();
  caps.declares_inf_nan_preserve = true;
  test.sweep.fp16 = false;
  check_operator(test, caps);
}

TEST(InfNan, TestsForThemFindThem) {
  for (const char* type : {"IsNaN", "IsInf"})
    check({.type = type, .inputs = {with_extremes({1, 6, 5, 7}, 1)}, .opset = 20});
}

TEST(InfNan, TheLargerAndTheSmallerOfTwoIsTheNan) {
  for (const char* type : {"Max", "Min"})
    check({.type = type, .inputs = {with_extremes({1, 6, 5, 7}, 2), random_tensor({1, 6, 5, 7}, 3)}});
}

TEST(InfNan, ReductionsKeepThem) {
  for (const char* type : {"ReduceMax", "ReduceMin"}) {
    OperatorCase test{.type = type, .inputs = {with_extremes({1, 4, 6, 9}, 4)}};
    test.attributes.set("axes", std::vector<int64_t>{3});
    check(test);
  }
}

TEST(InfNan, PoolingKeepsThem) {
  OperatorCase test{.type = "MaxPool", .inputs = {with_extremes({1, 5, 8, 8}, 5)}};
  test.attributes.set("kernel_shape", std::vector<int64_t>{2, 2});
  check(test);
}

// As masks of attention do.
TEST(InfNan, SoftmaxOfMinusInfinityIsZero) {
  HostTensor scores = random_tensor({2, 5, 12}, 6);
  const std::span<float> values = scores.mutable_as<float>();
  for (size_t i = 0; i < values.size(); i += 3) values[i] = -kInfinity;
  OperatorCase test{.type = "Softmax", .inputs = {std::move(scores)}};
  test.attributes.set("axis", int64_t{2});
  check(test);
}

// Each of ten channels multiplies a box of a 5x5 or 7x7 window: texels of four channels hold two boxes.
OperatorCase with_boxes_of_taps(int64_t kernel, const HostTensor& x) {
  auto conv = std::make_shared<Conv>();
  const int64_t pad = kernel / 2;
  conv->group = 10;
  conv->window.pads = {pad, pad, pad, pad};
  conv->channel_taps = {
      {6, {0, pad - 1, pad - 1}, {1, 3, 3}}, {1, {0, pad, 1}, {1, 1, 3}}, {3, {}, {1, kernel, kernel}}};
  OperatorCase test{.type = "Conv", .inputs = {}};
  test.op = std::move(conv);
  test.inputs = {x, random_tensor({10, 1, kernel, kernel}, 2), random_tensor({10}, 3)};
  test.constants = {1, 2};
  return test;
}

TEST(InfNan, DepthwiseConvolutionsReachTheTapsOfTheirChannelsAlone) {
  HostTensor x = random_tensor({2, 10, 12, 13}, 1);
  const std::span<float> values = x.mutable_as<float>();
  const float extremes[] = {kNan, kInfinity, -kInfinity};
  for (size_t i = 0; i < values.size(); i += 83) values[i] = extremes[i % 3];
  for (const int64_t kernel : {5, 7}) check(with_boxes_of_taps(kernel, x));
}

TEST(InfNan, BoxesOfTapsInEveryPrecision) {
  for (const int64_t kernel : {5, 7})
    check_operator(with_boxes_of_taps(kernel, random_tensor({1, 10, 9, 7}, 1)));
}

}  // namespace inf_nan_test
}  // namespace vellum::test

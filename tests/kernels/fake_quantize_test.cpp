// Results that are rounded to steps between two bounds, by every kernel that takes an activation.
//
// Inputs and weights are multiples of a quarter and results of all kernels multiples of a sixteenth or so,
// with steps whose halves none of them meets: what rounding leaves of the sums themselves changes no step.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/reduction/squeeze_excite.hpp"
#include "kernels/framework/step_rounding.hpp"
#include "kernels/fused/separable.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace fake_quantize_test {

constexpr Activation kRounding{.step = 5.0f / 16, .least = -3, .most = 4};

HostTensor in_quarters(Shape shape, uint32_t seed) {
  HostTensor tensor = random_tensor(std::move(shape), seed, -1.0f, 1.0f);
  for (float& value : tensor.mutable_as<float>()) value = std::nearbyint(4 * value) / 4;
  return tensor;
}

// Where another case goes through all layouts and precisions.
OperatorCase in_one_layout(OperatorCase test) {
  test.sweep.linear_inputs = test.sweep.fp16 = false;
  return test;
}

OperatorCase rounded_conv(Shape x, Shape w, int64_t pad = 0) {
  OperatorCase test{.type = "Conv", .inputs = {}};
  const int64_t filters = w[0], group = x[1] / w[1];
  test.inputs = {in_quarters(std::move(x), 1), in_quarters(std::move(w), 2), in_quarters({filters}, 3)};
  test.constants = {1, 2};
  test.attributes.set("group", group);
  test.attributes.set("pads", Attributes::Ints(4, pad));
  test.activation = kRounding;
  return test;
}

OperatorCase fake_quantize(HostTensor x, const Activation& rounding) {
  auto op = std::make_shared<Unary>();
  op->activation = rounding;
  OperatorCase test{.type = "FakeQuantize", .inputs = {std::move(x)}};
  test.op = std::move(op);
  return test;
}

// Averages of four quarters are sixteenths.
TEST(FakeQuantize, AveragePools) {
  for (const Shape& shape : {Shape{2, 5, 4, 6}, Shape{1, 3, 2, 4, 2}}) {
    const bool volumes = shape.size() == 5;
    OperatorCase test{.type = "AveragePool", .inputs = {in_quarters(shape, 1)}};
    test.attributes.set("kernel_shape", volumes ? Attributes::Ints{1, 2, 2} : Attributes::Ints{2, 2});
    test.attributes.set("strides", volumes ? Attributes::Ints{1, 2, 2} : Attributes::Ints{2, 2});
    test.activation = kRounding;
    check_operator(test);
  }
}

TEST(FakeQuantize, RoundsHalvesToEvenAndSaturates) {
  const Activation halves{.step = 0.5f, .least = -4, .most = 3};
  const std::vector<float> x{0.25f, 0.75f, -0.25f, -0.75f, 1.25f, 6e4f, -6e4f, 0.3f, -1.9f};
  check_operator(fake_quantize(HostTensor::f32({3, 3}, x), halves));
  Activation away = halves;
  away.ties_away = true;
  check_operator(fake_quantize(HostTensor::f32({3, 3}, x), away));
  OperatorCase nan = fake_quantize(HostTensor::f32({1, 1, 1, 2}, std::vector<float>{NAN, 1.0f}),
                                   {.step = 0.5f, .least = 1, .most = 3});
  nan.sweep.fp16 = false;
  check_operator(nan);
  check_operator(fake_quantize(in_quarters({2, 5, 3, 7}, 1), kRounding));
}

// A step with a quotient so close to what rounds to a tie that the quick quotient may be on the other side.
constexpr float kCloseStep = 0x1.7a0006p-1f;

TEST(FakeQuantize, ChecksTheTiesOfEachStep) {
  for (const float step : {5.0f / 255.0f, 0.1f, 0.5f, 1e-6f, 12345.678f})
    EXPECT_TRUE(is_quick_quotient_right({step, -128, 127})) << step;
  EXPECT_FALSE(is_quick_quotient_right({kCloseStep, 0, 255}));
  EXPECT_TRUE(is_quick_quotient_right({0.1f, -128, 127, true}));
  EXPECT_FALSE(is_quick_quotient_right({kCloseStep, 0, 255, true}));
  EXPECT_FALSE(is_quick_quotient_right({0.1f, -32768, 32767})) << "their multiples have too many bits";
  EXPECT_FALSE(is_quick_quotient_right({1e-38f, 0, 255})) << "their remainders are denormal";
  const auto macros = [](const Activation& rounding) {
    std::string names;
    for (const Task& task : lower(single_node_graph(fake_quantize(in_quarters({1, 5, 4, 6}, 1), rounding)),
                                  test_context()->caps(), {})
                                .tasks)
      if (task.dispatch)
        for (const auto& [name, value] : task.dispatch->defines)
          if (name.ends_with("_STEPS") || name == "TIES_AWAY") names += name;
    return names;
  };
  EXPECT_EQ(macros({.step = 0.1f, .least = -128, .most = 127}), "");
  EXPECT_EQ(macros({.step = kCloseStep, .least = 0, .most = 255}), "CLOSE_STEPS");
  EXPECT_EQ(macros({.step = 0.1f, .least = -128, .most = 127, .ties_away = true}), "TIES_AWAY");
  EXPECT_EQ(macros({.step = 0.1f, .least = -32768, .most = 32767}), "WIDE_STEPS");
}

// Quotients at, and one unit beside, every tie of steps whose inverse is no float, and far beyond the bounds;
// in 9 bits, and in 16 bits, whose multiples have more bits.
TEST(FakeQuantize, QuotientsBesideATieAreNoTies) {
  for (const float step : {5.0f / 255.0f, 0.1f, 0.7f, 3.0f / 255.0f, 1e-6f, 12345.678f, kCloseStep}) {
    for (const float most : {255.0f, 32767.0f}) {
      std::vector<float> x;
      for (int i = 0; i < 256; ++i) {
        const float whole = most > 255.0f && i > 3 ? static_cast<float>(257 * i) : static_cast<float>(i);
        for (const float beside : {1.0f - 0x1p-24f, 1.0f, 1.0f + 0x1p-23f})
          for (const float sign : {1.0f, -1.0f}) x.push_back(sign * (whole + 0.5f) * step * beside);
      }
      for (const float far : {3e38f, 1e6f * step, 257.0f * step, INFINITY}) x.insert(x.end(), {far, -far});
      const auto count = static_cast<int64_t>(x.size());
      for (const bool ties_away : {false, true}) {
        OperatorCase test =
            fake_quantize(HostTensor::f32({1, 1, 1, count}, x),
                          {.step = step, .least = -most - 1, .most = most, .ties_away = ties_away});
        test.sweep.fp16 = false;
        test.sweep.fp32_tolerance = 0;
        check_operator(test);
      }
    }
  }
}

TEST(FakeQuantize, AfterFunctions) {
  for (const char* type : {"Relu", "Sigmoid", "HardSwish", "LeakyRelu", "Tanh", "Elu", "Celu", "Softplus",
                           "Softsign", "ThresholdedRelu", "Mish", "Erf", "Gelu", "Silu"}) {
    OperatorCase test{.type = type, .inputs = {in_quarters({1, 6, 5, 7}, 1)}};
    if (test.type == "Gelu") test.opset = 20;
    test.activation = kRounding;
    check_operator(in_one_layout(test));
  }
}

TEST(FakeQuantize, OfSums) {
  OperatorCase test{.type = "Add", .inputs = {in_quarters({1, 6, 5, 7}, 1), in_quarters({1, 6, 5, 7}, 2)}};
  test.activation = kRounding;
  check_operator(test);
  OperatorCase norm{.type = "BatchNormalization", .inputs = {in_quarters({1, 6, 5, 7}, 1)}};
  for (uint32_t i = 2; i < 5; ++i) norm.inputs.push_back(in_quarters({6}, i));
  norm.inputs.push_back(HostTensor::f32({6}, std::vector<float>(6, 4.0f)));
  norm.attributes.set("epsilon", 0.0f);
  norm.constants = {1, 2, 3, 4};
  norm.activation = kRounding;
  check_operator(in_one_layout(norm));
}

TEST(FakeQuantize, OfConvolutions) {
  check_operator(rounded_conv({1, 6, 5, 9}, {7, 6, 1, 1}));
  check_operator(in_one_layout(rounded_conv({1, 8, 7, 9}, {12, 4, 3, 3}, 1)));
  OperatorCase winograd = rounded_conv({1, 44, 14, 17}, {48, 44, 3, 3}, 1);
  winograd.sweep.winograd = Winograd::f2;
  check_operator(in_one_layout(winograd));
  OperatorCase function = rounded_conv({1, 6, 5, 9}, {7, 6, 3, 3}, 1);
  function.activation.kind = ActivationKind::leaky_relu;
  function.activation.alpha = 0.5f;
  check_operator(in_one_layout(function));
  OperatorCase transposed{.type = "ConvTranspose",
                          .inputs = {in_quarters({1, 6, 5, 4}, 1), in_quarters({6, 7, 3, 3}, 2)}};
  transposed.attributes.set("strides", Attributes::Ints{2, 2});
  transposed.constants = {1};
  transposed.activation = kRounding;
  check_operator(in_one_layout(transposed));
}

TEST(FakeQuantize, EveryCandidateOfAConvolution) {
  for (const OperatorCase& test :
       {rounded_conv({1, 21, 9, 11}, {18, 21, 1, 1}), rounded_conv({1, 9, 7, 9}, {18, 9, 3, 3}, 1),
        rounded_conv({1, 12, 9, 11}, {12, 1, 3, 3}, 1)})
    EXPECT_GT(check_candidates(test).size(), 1u);
}

TEST(FakeQuantize, OfProducts) {
  OperatorCase gemm{.type = "Gemm",
                    .inputs = {in_quarters({5, 21}, 1), in_quarters({21, 14}, 2), in_quarters({14}, 3)}};
  gemm.constants = {1, 2};
  gemm.activation = kRounding;
  check_operator(gemm);
  gemm.constants = {};
  check_operator(in_one_layout(gemm));
}

// A bias that is added to a rounded product, for all rows alike.
TEST(FakeQuantize, OfProductsThatABiasIsAddedTo) {
  OperatorCase test{
      .type = "Gemm",
      .inputs = {in_quarters({9, 12}, 1), in_quarters({12, 7}, 2), std::nullopt, in_quarters({1, 7}, 3)}};
  test.constants = {1, 3};
  test.activation = kRounding;
  test.activation.sum_step = 3.0f / 16;
  test.activation.sum_low = -5;
  test.activation.sum_high = 6;
  check_operator(test);
}

TEST(FakeQuantize, OfBothLayersOfASeparableConvolution) {
  auto depthwise = std::make_shared<Conv>(), pointwise = std::make_shared<Conv>();
  depthwise->group = 20;
  depthwise->window.pads = {1, 1, 1, 1};
  depthwise->activation = kRounding;
  pointwise->activation = {.step = 15.0f / 64, .least = 0, .most = 5};
  OperatorCase test{.type = "SeparableConv", .inputs = {}};
  test.inputs = {in_quarters({1, 20, 9, 11}, 1), in_quarters({20, 1, 3, 3}, 2), in_quarters({20}, 3),
                 in_quarters({24, 20, 1, 1}, 4), in_quarters({24}, 5)};
  test.constants = {1, 2, 3, 4};
  test.op = separable_nodes(depthwise, pointwise);
  EXPECT_FALSE(check_candidates(test, {.caps = caps_as_gpu()}).empty());
}

// The products of x and the factors of its channels, also where the device binds too few buffers for a
// factor.
OperatorCase rounded_scaling(const Shape& x, int64_t filters, bool residual, float step = kRounding.step) {
  auto op = std::make_shared<Conv>();
  op->scaling = kRounding;
  op->scaling.step = step;
  OperatorCase test{.type = "Conv", .inputs = {}};
  test.inputs = {in_quarters(x, 1), in_quarters({filters, x[1], 1, 1}, 2), in_quarters({filters}, 3),
                 std::nullopt, in_quarters({x[0], x[1], 1, 1}, 4)};
  if (residual) test.inputs[3] = in_quarters({x[0], filters, x[2], x[3]}, 5);
  test.constants = {1, 2};
  test.op = std::move(op);
  return test;
}

TEST(FakeQuantize, OfScaledChannels) {
  check_operator(rounded_scaling({1, 9, 5, 6}, 7, false));
  check_operator(rounded_scaling({3, 16, 3, 5}, 12, true));
  check_operator(in_one_layout(rounded_scaling({1, 9, 5, 6}, 7, false, kCloseStep)));
}

TEST(FakeQuantize, EveryCandidateWithScaledChannels) {
  for (const DeviceCaps& caps : {test_context()->caps(), caps_as_gpu()})
    EXPECT_FALSE(check_candidates(rounded_scaling({1, 40, 5, 13}, 24, true), {.caps = caps}).empty());
}

TEST(FakeQuantize, OfHiddenChannelsAndGates) {
  auto op = std::make_shared<SqueezeExcite>();
  op->hidden = {.kind = ActivationKind::none, .step = 5.0f / 16, .least = 0, .most = 4};
  op->gate = {.kind = ActivationKind::sigmoid, .step = 1.0f / 8, .least = 0, .most = 8};
  OperatorCase test{.type = "SqueezeExcite", .inputs = {}};
  test.inputs = {in_quarters({2, 8, 2, 4}, 1), in_quarters({3, 8, 1, 1}, 2), in_quarters({3}, 3),
                 in_quarters({8, 3, 1, 1}, 4), in_quarters({8}, 5)};
  test.constants = {1, 2, 3, 4};
  test.op = std::move(op);
  check_operator(in_one_layout(test));
}

}  // namespace fake_quantize_test
}  // namespace vellum::test

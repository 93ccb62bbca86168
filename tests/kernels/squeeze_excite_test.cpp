// Squeeze-and-excitation and convolutions of scaled channels, against their host references.
#include "graph/operators/reduction/squeeze_excite.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "graph/operators/conv/conv.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace squeeze_excite_test {

struct Gate {
  Activation hidden{.kind = ActivationKind::relu};
  Activation gate{.kind = ActivationKind::hard_sigmoid, .alpha = 1.0f / 6.0f, .beta = 0.5f};
  bool biases = true;
};

OperatorCase squeeze_excite(const Shape& x, int64_t hidden, const Gate& with = {}) {
  auto op = std::make_shared<SqueezeExcite>();
  op->hidden = with.hidden;
  op->gate = with.gate;
  OperatorCase test;
  test.type = "SqueezeExcite";
  Shape w1(x.size(), 1), w2(x.size(), 1);
  w1[0] = w2[1] = hidden;
  w1[1] = w2[0] = x[1];
  test.inputs = {random_tensor(x, 1, -0.5f, 1.0f), random_tensor(w1, 2), random_tensor({hidden}, 3),
                 random_tensor(w2, 4), random_tensor({x[1]}, 5)};
  if (!with.biases) test.inputs[2] = test.inputs[4] = std::nullopt;
  test.constants = {1, 2, 3, 4};
  test.op = std::move(op);
  test.sweep.linear_inputs = false;
  return test;
}

TEST(SqueezeExcite, OddShapes) {
  check_operator(squeeze_excite({2, 5, 3, 7}, 3));
  check_operator(squeeze_excite({1, 1, 1, 1}, 1));
  check_operator(squeeze_excite({1, 13, 9}, 6));
  check_operator(squeeze_excite({3, 72, 7, 2}, 24));
}

TEST(SqueezeExcite, WithoutBiasesAndWithOtherActivations) {
  Gate bare;
  bare.biases = false;
  check_operator(squeeze_excite({1, 18, 5, 4}, 5, bare));
  Gate silu;
  silu.hidden = {.kind = ActivationKind::silu};
  silu.gate = {.kind = ActivationKind::sigmoid};
  check_operator(squeeze_excite({1, 18, 5, 4}, 5, silu));
  Gate scaled;  // relu6(x + 3) / 6, as TFLite spells hard sigmoids
  scaled.gate = {.kind = ActivationKind::clip, .alpha = 0.0f, .beta = 6.0f, .scale = 1.0f / 6.0f};
  check_operator(squeeze_excite({1, 18, 5, 4}, 5, scaled));
}

// More rows than invocations of a workgroup.
TEST(SqueezeExcite, ManyChannels) { check_operator(squeeze_excite({1, 1100, 2, 3}, 44)); }

// Beyond what a workgroup holds, and beyond what one should do: dispatches of their own.
TEST(SqueezeExcite, StepsOfTheirOwn) {
  check_operator(squeeze_excite({1, 2052, 2, 2}, 7));
  DeviceCaps gpu = test_context()->caps();
  gpu.type = DeviceType::discrete_gpu;
  check_operator(squeeze_excite({2, 260, 3, 3}, 130), gpu);
  check_operator(squeeze_excite({2, 30, 40, 15}, 9), gpu);
}

OperatorCase scaled_conv(const Shape& x, int64_t filters, bool residual) {
  OperatorCase test;
  test.type = "Conv";
  Shape w(x.size(), 1), y = x, scale(x.size(), 1);
  w[0] = y[1] = filters;
  w[1] = scale[1] = x[1];
  scale[0] = x[0];
  test.inputs = {random_tensor(x, 1), random_tensor(w, 2), random_tensor({filters}, 3), std::nullopt,
                 random_tensor(scale, 5, 0.0f, 1.0f)};
  if (residual) test.inputs[3] = random_tensor(y, 4);
  test.constants = {1, 2};
  test.op = std::make_shared<Conv>();
  return test;
}

TEST(ConvScale, OfChannels) {
  check_operator(scaled_conv({1, 9, 5, 6}, 7, false));
  check_operator(scaled_conv({1, 16, 5, 6}, 12, true));
  check_operator(scaled_conv({1, 7, 11}, 5, false));
}

TEST(ConvScale, InEveryWay) {
  for (const char* tile : {"pointwise 4x1", "pointwise 4x2"}) {  // subgroups, too
    check_candidates(scaled_conv({1, 9, 5, 13}, 7, true), {.only = tile});
    check_candidates(scaled_conv({2, 21, 7, 9}, 18, false), {.only = tile});
  }
}

TEST(ConvScale, OfEachImage) {
  check_operator(scaled_conv({3, 9, 3, 3}, 7, false));
  check_operator(scaled_conv({2, 6, 1, 5}, 20, true));
}

}  // namespace squeeze_excite_test
}  // namespace vellum::test

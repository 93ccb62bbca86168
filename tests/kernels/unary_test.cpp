// Functions of one tensor, on every storage, layout and precision.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace unary_test {

// Odd sizes: channels that do not fill the last texel, a width of one, more than one image.
OperatorCase unary_case(std::string type, float low, float high, uint32_t seed) {
  OperatorCase test{.type = std::move(type), .inputs = {random_tensor({2, 5, 3, 7}, seed, low, high)}};
  test.opset = 20;
  return test;
}

TEST(Unary, ActivationsWithDefaultAttributes) {
  for (const char* type : {"Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Silu", "Elu",
                           "Selu", "Celu", "Softplus", "Softsign", "ThresholdedRelu", "Mish", "Erf", "Gelu"})
    check_operator(unary_case(type, -6.0f, 6.0f, 1));
}

TEST(Unary, ActivationsWithAttributes) {
  OperatorCase leaky = unary_case("LeakyRelu", -3.0f, 3.0f, 2);
  leaky.attributes.set("alpha", 0.3f);
  check_operator(leaky);
  OperatorCase sigmoid = unary_case("HardSigmoid", -3.0f, 3.0f, 3);
  sigmoid.attributes.set("alpha", 0.4f);
  sigmoid.attributes.set("beta", 0.6f);
  check_operator(sigmoid);
  OperatorCase gelu = unary_case("Gelu", -6.0f, 6.0f, 4);
  gelu.attributes.set("approximate", std::string("tanh"));
  check_operator(gelu);
}

TEST(Unary, Mathematics) {
  for (const char* type :
       {"Abs", "Neg", "Sign", "Exp", "Floor", "Ceil", "Sin", "Cos", "Atan", "Sinh", "Cosh", "Asinh"})
    check_operator(unary_case(type, -3.0f, 3.0f, 5));
  for (const char* type : {"Log", "Sqrt", "Reciprocal"}) check_operator(unary_case(type, 0.1f, 9.0f, 6));
  for (const char* type : {"Asin", "Acos", "Atanh"}) check_operator(unary_case(type, -0.95f, 0.95f, 7));
  check_operator(unary_case("Tan", -1.2f, 1.2f, 8));
  check_operator(unary_case("Acosh", 1.1f, 9.0f, 9));
}

// Phases of oscillators that were summed over minutes of audio.
TEST(Unary, SineAndCosineOfManyTurns) {
  const std::array values{99999.0f,   -100001.5f, 123456.78f, -314159.25f, 1e6f,
                          -1234567.f, 2097151.5f, 3141592.5f, -4194303.5f, 4194304.0f};
  for (const char* type : {"Sin", "Cos"})
    check_operator(
        {.type = type, .inputs = {HostTensor::f32({1, 10, 1, 1}, values)}, .sweep = {.fp16 = false}});
}

// The square of x is infinite.
TEST(Unary, InverseHyperbolicSineOfLargeNumbers) {
  check_operator(
      {.type = "Asinh",
       .inputs = {HostTensor::f32({1, 6, 1, 1}, std::array{9e7f, -2e8f, 1e19f, -3e19f, 1e38f, -3e38f})},
       .sweep = {.fp16 = false}});
}

// Some drivers compute the logarithm of the magnitude, others NaN.
TEST(Unary, OutsideTheirDomains) {
  const std::array values{-7.0f, -1.5f, -1.0f, 0.0f, 0.5f, 1.0f, 1.5f, INFINITY};
  for (const char* type : {"Log", "Sqrt", "Asin", "Acos", "Acosh", "Atanh"})
    check_operator(
        {.type = type, .inputs = {HostTensor::f32({1, 8, 1, 1}, values)}, .sweep = {.fp16 = false}});
  OperatorCase sums{
      .type = "ReduceLogSum", .inputs = {HostTensor::f32({4, 2}, values)}, .sweep = {.fp16 = false}};
  sums.attributes.set("axes", std::vector<int64_t>{1});
  check_operator(sums);
}

TEST(Unary, RoundGoesToTheEvenNeighbour) {
  check_operator({.type = "Round",
                  .inputs = {HostTensor::f32(
                      {1, 9, 1, 1}, std::array{-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 0.4f, 0.6f, -3.7f})}});
}

TEST(Unary, InfinityAndNaN) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const std::array values{infinity, -infinity, nan, 0.0f, -0.0f};
  for (const char* type :
       {"Abs", "Neg", "Sqrt", "Reciprocal", "Floor", "Exp", "Log", "Acosh", "Atanh", "Asinh"})
    check_operator(
        {.type = type, .inputs = {HostTensor::f32({1, 5, 1, 1}, values)}, .sweep = {.fp16 = false}});
}

TEST(Unary, TestsForInfinityAndNaN) {
  const float infinity = std::numeric_limits<float>::infinity();
  const HostTensor x =
      HostTensor::f32({1, 6, 1, 1}, std::array{infinity, -infinity, std::nanf(""), 0.0f, 1.0f, -1.0f});
  check_operator({.type = "IsNaN", .inputs = {x}, .sweep = {.fp16 = false}});
  for (const auto& [positive, negative] : {std::pair{1, 1}, std::pair{1, 0}, std::pair{0, 1}}) {
    OperatorCase test{.type = "IsInf", .inputs = {x}, .sweep = {.fp16 = false}};
    test.attributes.set("detect_positive", int64_t{positive});
    test.attributes.set("detect_negative", int64_t{negative});
    check_operator(test);
  }
}

TEST(Unary, ClipWithBoundsThatAreInputs) {
  const HostTensor low = HostTensor::f32({}, std::array{-0.5f}),
                   high = HostTensor::f32({}, std::array{0.75f});
  const HostTensor x = random_tensor({1, 6, 5, 3}, 11, -2.0f, 2.0f);
  check_operator({.type = "Clip", .inputs = {x, low, high}, .constants = {1, 2}});
  check_operator({.type = "Clip", .inputs = {x, std::nullopt, high}, .constants = {2}});
  check_operator({.type = "Clip", .inputs = {x, low}, .constants = {1}});
}

TEST(Unary, EveryRank) {
  for (const Shape& shape :
       {Shape{}, Shape{7}, Shape{3, 5}, Shape{2, 3, 5}, Shape{2, 1, 3, 2, 3}, Shape{1, 2, 1, 3, 2, 3}})
    check_operator({.type = "Abs", .inputs = {random_tensor(shape, 12)}});
}

}  // namespace unary_test
}  // namespace vellum::test

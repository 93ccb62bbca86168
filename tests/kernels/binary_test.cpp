// Functions of two and more tensors with numpy broadcasting.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "exec/executor.hpp"
#include "passes/passes.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace binary_test {

TEST(Binary, ArithmeticOfEqualShapes) {
  for (const char* type : {"Add", "Sub", "Mul", "SquaredDifference", "Min", "Max"})
    check_operator(
        {.type = type, .inputs = {random_tensor({2, 5, 3, 7}, 1), random_tensor({2, 5, 3, 7}, 2)}});
  check_operator({.type = "Div",
                  .inputs = {random_tensor({1, 3, 1, 5}, 3), random_tensor({1, 3, 1, 5}, 4, 0.5f, 2.0f)}});
}

TEST(Binary, BroadcastsTwoComputedTensors) {
  const std::pair<Shape, Shape> shapes[] = {{{2, 5, 3, 7}, {1, 5, 1, 1}},
                                            {{2, 1, 3, 7}, {2, 5, 3, 7}},
                                            {{1, 5, 3, 1}, {2, 1, 1, 7}},
                                            {{2, 5, 3, 7}, {7}},
                                            {{2, 5, 3, 7}, {5, 1, 1}},
                                            {{3, 5}, {1, 5}},
                                            {{2, 3, 5}, {3, 1}},
                                            {{3}, {2, 1}},
                                            {{2, 1, 3, 1, 2}, {3, 1, 2, 1}},
                                            {{2, 3, 1, 2, 1, 2}, {1, 3, 2, 2, 1, 2}},
                                            {{}, {4, 3}}};
  for (const auto& [a, b] : shapes)
    check_operator({.type = "Sub", .inputs = {random_tensor(a, 5), random_tensor(b, 6)}});
}

// Numerators and divisors of quotients at, and one unit beside, multiples of `step` and the middles between
// them, which GPUs' quotients may confuse.
std::array<HostTensor, 2> near_ties(float step) {
  std::vector<float> x, divisors;
  for (int i = 0; i < 50; ++i)
    for (const float divisor : {3.0f, 0.1f, 41.0f, 1.0f / 255})
      for (const float half : {0.0f, 0.5f})
        for (const float beside : {1.0f - 0x1p-24f, 1.0f, 1.0f + 0x1p-23f}) {
          x.push_back((i % 2 == 0 ? step : -step) * (static_cast<float>(i) + half) * divisor * beside);
          divisors.push_back(divisor);
        }
  for (const float zero : {0.0f, 1.0f, INFINITY, 3e38f}) x.push_back(zero), divisors.push_back(0.0f);
  const auto count = static_cast<int64_t>(x.size());
  return {HostTensor::f32({1, 4, 1, count / 4}, x), HostTensor::f32({1, 4, 1, count / 4}, divisors)};
}

// Compares the results of a graph of two inputs with the reference's, but for those of 0 and 0.
void expect_same(const Graph& graph, const std::array<HostTensor, 2>& inputs) {
  Executor executor(test_context(),
                    compile_program(test_context(), lower(graph, test_context()->caps(), {})));
  for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
  executor.run();
  const std::vector<float> found = executor.output(0).to_floats(),
                           wanted = evaluate(graph, inputs)[0].to_floats();
  const auto a = inputs[0].as<float>(), b = inputs[1].as<float>();
  for (size_t i = 0; i < found.size(); ++i)
    if ((a[i] != 0.0f || b[i] != 0.0f) && !(std::isnan(found[i]) && std::isnan(wanted[i])))
      EXPECT_EQ(found[i], wanted[i]) << a[i] << " and " << b[i];
}

// Checks quotients after a Clip, if `clips`, and the nodes that `round` adds from one name to another.
void check_rounded_quotients(float step, bool clips,
                             const std::function<void(OnnxModel&, const char*, const char*)>& round) {
  const auto inputs = near_ties(step);
  OnnxModel model;
  model.input("x", inputs[0].shape()).input("d", inputs[0].shape());
  model.initializer("low", HostTensor::f32({}, std::vector{-40 * step}));
  model.initializer("high", HostTensor::f32({}, std::vector{40 * step}));
  model.node("Div", {"x", "d"}, {"q"});
  if (clips) model.node("Clip", {"q", "low", "high"}, {"c"});
  round(model, clips ? "c" : "q", "y");
  expect_same(optimise(model.output("y").graph(), {}), inputs);
}

TEST(Binary, QuotientsThatAreRounded) {
  for (const char* type : {"Round", "Floor", "Ceil"})
    for (const bool clips : {false, true}) {
      SCOPED_TRACE(type);
      check_rounded_quotients(1, clips, [type](OnnxModel& model, const char* from, const char* to) {
        model.node(type, {from}, {to});
      });
    }
}

TEST(Binary, QuotientsThatAreQuantised) {
  constexpr float kStep = 0.0625f;
  for (const bool dequantises : {false, true})
    for (const bool clips : {false, true}) {
      SCOPED_TRACE(dequantises);
      check_rounded_quotients(kStep, clips, [=](OnnxModel& model, const char* from, const char* to) {
        model.initializer("step", HostTensor::f32({}, std::vector{kStep}));
        model.initializer("zero", HostTensor::from<int64_t>(DType::i8, {}, std::array{int64_t{3}}));
        model.node("QuantizeLinear", {from, "step", "zero"}, {dequantises ? "steps" : to});
        if (dequantises) model.node("DequantizeLinear", {"steps", "step", "zero"}, {to});
      });
    }
}

// A conversion to integers cuts off what a power of an integer misses.
TEST(Binary, PowersOfIntegersAreExact) {
  std::vector<float> bases, exponents;
  const auto add = [&](int base, float exponent, double power) {
    if (power >= 0x1p24) return;
    bases.push_back(static_cast<float>(base));
    exponents.push_back(exponent);
  };
  for (int base = -40; base <= 40; ++base)
    for (int exponent = 0; exponent <= 24; ++exponent) {
      const double power = std::pow(std::abs(base), exponent);
      add(base, static_cast<float>(exponent), power);
      add(base * base, static_cast<float>(exponent) / 2, power);
      add(base, static_cast<float>(exponent) + 0.5f, base < 0 ? 0 : 0x1p24);  // NaN
    }
  const Shape shape{static_cast<int64_t>(bases.size())};
  OnnxModel model;
  model.input("x", shape).input("e", shape).node("Pow", {"x", "e"}, {"p"});
  model.node("Floor", {"p"}, {"y"}).output("y");
  expect_same(optimise(model.graph(), {}),
              std::array{HostTensor::f32(shape, bases), HostTensor::f32(shape, exponents)});
}

TEST(Binary, PowersOfInfinityAndNaN) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const std::array bases{1.0f, -1.0f, nan, nan, 1.0f, 2.0f, 0.5f, infinity, -infinity, -infinity, nan, 2.0f};
  const std::array exponents{infinity, infinity, infinity, 0.0f, nan,  infinity,
                             infinity, -2.0f,    3.0f,     2.0f, 2.5f, nan};
  check_operator(
      {.type = "Pow",
       .inputs = {HostTensor::f32({1, 12, 1, 1}, bases), HostTensor::f32({1, 12, 1, 1}, exponents)},
       .sweep = {.fp16 = false}});
}

TEST(Binary, BroadcastsConstants) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{3, 1}, Shape{5, 1, 1}, Shape{1, 5, 1, 1},
                             Shape{2, 5, 3, 7}, Shape{2, 1, 1, 1}, Shape{3, 7}}) {
    check_operator({.type = "Sub",
                    .inputs = {random_tensor({2, 5, 3, 7}, 7), random_tensor(shape, 8)},
                    .constants = {1}});
    check_operator({.type = "Sub",
                    .inputs = {random_tensor(shape, 9), random_tensor({2, 5, 3, 7}, 10)},
                    .constants = {0}});
  }
  check_operator(
      {.type = "Mul", .inputs = {random_tensor({2, 5, 7}, 11), random_tensor({5, 1}, 12)}, .constants = {1}});
  check_operator(
      {.type = "Mul", .inputs = {random_tensor({2, 5}, 13), random_tensor({5}, 14)}, .constants = {1}});
  // A constant larger than what it meets.
  check_operator({.type = "Add",
                  .inputs = {random_tensor({1, 5, 1, 1}, 15), random_tensor({1, 5, 3, 2}, 16)},
                  .constants = {1}});
}

TEST(Binary, SmallConstantsKeepFullPrecisionInHalfPrecisionSessions) {
  // 1e-9 is zero as a half: the quotient would be infinite.
  const HostTensor x = random_tensor({1, 3, 2, 2}, 17, 1e-9f, 2e-9f);
  check_operator({.type = "Add",
                  .inputs = {random_tensor({1, 3, 2, 2}, 17, 100.0f, 101.0f),
                             HostTensor::f32({1}, std::array{-123.675f})},
                  .constants = {1}});
}

TEST(Binary, FusedActivation) {
  OperatorCase test{.type = "Add",
                    .inputs = {random_tensor({1, 6, 5, 3}, 18), random_tensor({1, 6, 5, 3}, 19)}};
  test.activation = {ActivationKind::relu};
  check_operator(test);
  test.activation = {ActivationKind::clip, -0.25f, 0.5f};
  check_operator(test);
  test.activation = {.scale = 3.0f, .shift = -1.0f};
  check_operator(test);
}

TEST(Binary, Pow) {
  check_operator({.type = "Pow",
                  .inputs = {random_tensor({1, 5, 3, 2}, 20, 0.1f, 3.0f),
                             random_tensor({1, 5, 3, 2}, 21, -2.0f, 2.0f)}});
  for (const float exponent : {0.0f, 0.5f, 1.0f, 2.0f, 3.0f, -1.0f, 4.0f, 5.0f})
    check_operator({.type = "Pow",
                    .inputs = {random_tensor({1, 5, 3, 2}, 22, exponent == 0.5f ? 0.0f : -2.0f, 2.0f),
                               HostTensor::f32({}, std::array{exponent})},
                    .constants = {1},
                    .sweep = {.fp16_tolerance = 2e-2}});
}

TEST(Binary, Mod) {
  OperatorCase test{.type = "Mod",
                    .inputs = {random_tensor({1, 5, 3, 2}, 23, -7.0f, 7.0f),
                               HostTensor::f32({1, 5, 1, 1}, std::array{0.75f, 1.5f, 2.0f, -1.25f, -3.0f})},
                    .constants = {1}};
  test.attributes.set("fmod", int64_t{1});
  test.sweep.fp16_tolerance = 2e-2;
  check_operator(test);
}

// The quotient is rounded, the remainder is not: to the bit, for quotients up to 2^200.
TEST(Binary, ModIsExact) {
  std::vector<float> a, b;
  for (int i = -200; i < 200; ++i) {
    a.push_back(static_cast<float>(i) / 10.0f);
    b.push_back(i % 3 == 0 ? -0.1f : 0.1f);
  }
  const auto factors = random_tensor({2000}, 41, -1.0f, 1.0f).to_floats();
  for (size_t i = 0; i + 1 < factors.size(); i += 2) {
    a.push_back(std::ldexp(factors[i], static_cast<int>(i % 180) - 60));
    b.push_back(std::ldexp(factors[i + 1], static_cast<int>(i % 37) - 60));
  }
  for (const auto& [x, y] :
       {std::pair{9007199.0f, 3.0f}, {-16777215.0f, 7.0f}, {3e38f, 1e-30f}, {5.0f, 5.0f}}) {
    a.push_back(x);
    b.push_back(y);
  }
  const Shape shape{static_cast<int64_t>(a.size())};
  const std::vector<HostTensor> inputs{HostTensor::f32(shape, a), HostTensor::f32(shape, b)};
  for (const int64_t fmod : {0, 1}) {
    OperatorCase test{.type = "Mod", .inputs = {inputs[0], inputs[1]}, .opset = 13};
    test.attributes.set("fmod", fmod);
    const Graph graph = single_node_graph(test);
    const auto want = evaluate(graph, inputs)[0].to_floats();
    Executor executor(test_context(),
                      compile_program(test_context(), lower(graph, test_context()->caps(), {})));
    for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
    executor.run();
    const auto got = executor.output(0).to_floats();
    for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(got[i], want[i]) << a[i] << " mod " << b[i];
  }
}

TEST(Binary, ModOfAnInfiniteDivisor) {
  const float infinity = std::numeric_limits<float>::infinity();
  OperatorCase test{
      .type = "Mod",
      .inputs = {HostTensor::f32({1, 5, 1, 1}, std::array{-3.0f, 3.0f, -1.0f, 1.0f, infinity}),
                 HostTensor::f32({1, 5, 1, 1}, std::array{infinity, infinity, -infinity, -infinity, 2.0f})},
      .opset = 28,
      .sweep = {.fp16 = false}};
  check_operator(test);
  test.attributes.set("fmod", int64_t{1});
  check_operator(test);
}

TEST(Binary, InfinityAndNaN) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const HostTensor a = HostTensor::f32({1, 5, 1, 1}, std::array{infinity, 1.0f, nan, 0.0f, -1.0f});
  const HostTensor b = HostTensor::f32({1, 5, 1, 1}, std::array{1.0f, nan, 2.0f, 0.0f, 0.0f});
  for (const char* type : {"Add", "Div", "Max", "Min"})
    check_operator({.type = type, .inputs = {a, b}, .sweep = {.fp16 = false}});
}

// A few values, so that some are equal.
HostTensor rounded(Shape shape, uint32_t seed) {
  HostTensor tensor = random_tensor(std::move(shape), seed, -3.0f, 3.0f);
  for (float& value : tensor.mutable_as<float>()) value = std::round(value);
  return tensor;
}

HostTensor integers(Shape shape, uint32_t seed) {
  HostTensor tensor(DType::i64, shape);
  const HostTensor values = rounded(std::move(shape), seed);
  for (size_t i = 0; i < values.as<float>().size(); ++i)
    tensor.mutable_as<int64_t>()[i] = static_cast<int64_t>(values.as<float>()[i]);
  return tensor;
}

TEST(Binary, Comparisons) {
  for (const char* type : {"Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"}) {
    check_operator({.type = type, .inputs = {rounded({2, 5, 3, 7}, 40), rounded({2, 5, 3, 7}, 41)}});
    check_operator(
        {.type = type, .inputs = {rounded({2, 5, 3, 7}, 42), rounded({5, 1, 1}, 43)}, .constants = {1}});
    check_operator({.type = type, .inputs = {integers({3, 5}, 44), integers({5}, 45)}});
  }
}

TEST(Binary, IntegerArithmetic) {
  for (const char* type : {"Add", "Sub", "Mul", "Div", "Mod", "Min", "Max"}) {
    check_operator({.type = type, .inputs = {integers({2, 5, 3}, 46), integers({2, 5, 3}, 47)}});
    check_operator({.type = type, .inputs = {integers({3, 5}, 48), integers({}, 50)}, .constants = {1}});
  }
}

TEST(Binary, Logic) {
  const auto flags = [](std::array<uint8_t, 6> values, Shape shape) {
    return HostTensor::from<uint8_t>(DType::boolean, std::move(shape), values);
  };
  const HostTensor a = flags({1, 0, 1, 1, 0, 0}, {2, 3}), b = flags({1, 1, 0, 0, 1, 0}, {2, 3});
  for (const char* type : {"And", "Or", "Xor"}) check_operator({.type = type, .inputs = {a, b}});
  check_operator({.type = "Not", .inputs = {a}});
}

TEST(Binary, PRelu) {
  const HostTensor x = random_tensor({2, 5, 3, 7}, 24);
  for (const Shape& slope : {Shape{1}, Shape{5, 1, 1}, Shape{1, 5, 1, 1}, Shape{5, 3, 7}, Shape{2, 5, 3, 7}})
    check_operator({.type = "PRelu", .inputs = {x, random_tensor(slope, 25)}, .constants = {1}});
  check_operator({.type = "PRelu", .inputs = {x, random_tensor({5, 1, 1}, 26)}});
}

TEST(Variadic, OneTwoAndFiveInputs) {
  for (const char* type : {"Sum", "Mean", "Min", "Max"}) {
    OperatorCase test{.type = type, .inputs = {random_tensor({1, 6, 3, 5}, 27)}};
    check_operator(test);
    test.inputs.push_back(random_tensor({1, 6, 3, 5}, 28));
    check_operator(test);
    test.inputs.push_back(random_tensor({1, 6, 1, 1}, 29));
    test.inputs.push_back(random_tensor({2, 1, 3, 1}, 30));
    test.inputs.push_back(random_tensor({5}, 31));
    check_operator(test);
    test.constants = {2, 4};
    check_operator(test);
  }
}

TEST(Where, BroadcastsAllThree) {
  const HostTensor condition =
      HostTensor::from<uint8_t>(DType::boolean, {3, 1}, std::array<uint8_t, 3>{1, 0, 1});
  check_operator(
      {.type = "Where", .inputs = {condition, random_tensor({2, 3, 5}, 32), random_tensor({1, 1, 5}, 33)}});
  check_operator({.type = "Where",
                  .inputs = {condition, random_tensor({2, 3, 5}, 34), random_tensor({}, 35)},
                  .constants = {0, 2}});
  check_operator({.type = "Where",
                  .inputs = {condition, HostTensor::i64({3, 2}, std::array<int64_t, 6>{1, 2, 3, 4, 5, 6}),
                             HostTensor::i64({1}, std::array<int64_t, 1>{-7})}});
}

}  // namespace binary_test
}  // namespace vellum::test

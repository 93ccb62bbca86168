#include <gtest/gtest.h>

#include <cmath>

#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "run_operator.hpp"

namespace vellum::testing {
namespace {

TEST(Activation, FollowsItsFormula) {
  struct Case {
    Spec spec;
    float x, y;
  };
  const Case cases[] = {
      {{"Relu"}, -2, 0},
      {{"Relu"}, 2, 2},
      {{"LeakyRelu"}, -2, -0.02f},
      {{"LeakyRelu", 13, {{"alpha", 0.5f}}}, -2, -1},
      {{"Sigmoid"}, 0, 0.5f},
      {{"Sigmoid"}, -1000, 0},
      {{"Tanh"}, 1000, 1},
      {{"HardSigmoid"}, 1, 0.7f},
      {{"HardSigmoid", 13, {{"alpha", 0.1f}, {"beta", 0.0f}}}, 1, 0.1f},
      {{"HardSwish", 14}, 1, 2.0f / 3},
      {{"Elu"}, -1, -0.6321206f},
      {{"Elu", 13, {{"alpha", 2.0f}}}, -1, -1.2642411f},
      {{"Selu"}, 1, 1.0507010f},
      {{"Selu"}, -1, -1.1113307f},
      {{"Celu", 13, {{"alpha", 2.0f}}}, -2, -1.2642411f},
      {{"Softplus"}, 0, 0.6931472f},
      {{"Softplus"}, 500, 500},
      {{"Softsign"}, -3, -0.75f},
      {{"ThresholdedRelu"}, 0.9f, 0},
      {{"ThresholdedRelu", 13, {{"alpha", 0.5f}}}, 0.9f, 0.9f},
      {{"Mish", 18}, 1, 0.8650984f},
      {{"Erf"}, 1, 0.8427008f},
      {{"Gelu", 20}, 1, 0.8413447f},
      {{"Gelu", 20, {{"approximate", std::string("tanh")}}}, 1, 0.8411920f},
      {{"Clip", 6, {{"min", -1.0f}, {"max", 1.0f}}}, 3, 1},
      {{"Clip", 6, {{"min", -1.0f}}}, -3, -1},
      {{"Clip", 6}, 3, 3},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.spec.type + " of " + std::to_string(c.x));
    expect_floats(run(c.spec, {floats({1}, {c.x})}), {1}, {c.y}, 1e-6f * std::max(1.0f, std::fabs(c.y)));
  }
}

TEST(Activation, LetsNanThrough) {
  EXPECT_TRUE(std::isnan(run({"Relu"}, {floats({1}, {NAN})}).to_floats()[0]));
  EXPECT_TRUE(std::isnan(run({"Clip", 6}, {floats({1}, {NAN})}).to_floats()[0]));
}

TEST(Activation, KeepsIntegersWhole) {
  expect_ints(run({"Relu", 14}, {ints({2}, {-5, INT64_MAX})}), {2}, {0, INT64_MAX});
}

TEST(Clip, TakesItsBoundsFromInputs) {
  const HostTensor x = floats({3}, {-9, 0.5f, 9}), low = floats({}, {-1}), high = floats({}, {1});
  expect_floats(run({"Clip", 11}, {x, low, high}), {3}, {-1, 0.5f, 1});
  expect_floats(run({"Clip", 11}, {x, std::nullopt, high}), {3}, {-9, 0.5f, 1});
  expect_floats(run({"Clip", 11}, {x}), {3}, {-9, 0.5f, 9});
  expect_refused({"Clip", 11}, {x, ints({}, {0})}, "a bound is");
  expect_refused({"Clip", 11}, {x, counting({2})}, "a bound is");
}

TEST(Clip, IsAnActivationOnceItsBoundsAreKnown) {
  const OptionalTensors inputs{counting({1}), floats({}, {0}), floats({}, {6})};
  const auto op = make({"Clip", 11}, inputs);
  auto known = known_inputs(pointers(inputs));
  EXPECT_EQ(as_activation(*op, known), (Activation{ActivationKind::clip, 0.0f, 6.0f}));
  known[2].constant = nullptr;
  EXPECT_EQ(as_activation(*op, known), std::nullopt);
  EXPECT_EQ(as_activation(*make({"Abs"}, {counting({1})}), known), std::nullopt);
}

TEST(Activation, RoundsLast) {
  const Activation rounding{.step = 0.5f, .least = -2, .most = 5};
  EXPECT_EQ(apply(rounding, 0.25f), 0.0f);
  EXPECT_EQ(apply(rounding, 0.75f), 1.0f);
  EXPECT_EQ(apply(rounding, 9.0f), 2.5f);
  EXPECT_EQ(apply(rounding, -9.0f), -1.0f);
  EXPECT_EQ(apply(rounding, NAN), 0.0f);
  const Activation clip{ActivationKind::clip, -0.3f, 1.2f}, crossed{ActivationKind::clip, 1.2f, -0.3f};
  for (const Activation& first :
       {Activation{}, Activation{ActivationKind::relu}, clip, crossed, Activation{ActivationKind::silu},
        Activation{ActivationKind::leaky_relu, 0.2f}}) {
    const auto both = combine(first, rounding);
    ASSERT_TRUE(both);
    for (float x = -4.0f; x < 4.0f; x += 0.0625f)
      EXPECT_EQ(apply(*both, x), apply(rounding, apply(first, x))) << name(first.kind) << ' ' << x;
  }
  EXPECT_EQ(combine({.scale = 2.0f}, rounding), std::nullopt);
  EXPECT_EQ(combine({ActivationKind::hard_sigmoid, 0.2f, 0.5f}, rounding), std::nullopt);
  EXPECT_EQ(combine(rounding, {ActivationKind::relu}), std::nullopt);
}

TEST(Unary, FollowsItsFormula) {
  expect_floats(run({"Round"}, {floats({5}, {0.5f, 1.5f, -0.5f, -1.5f, 2.4f})}), {5}, {0, 2, 0, -2, 2});
  expect_floats(run({"Sign"}, {floats({3}, {-2, 0, 5})}), {3}, {-1, 0, 1});
  expect_floats(run({"Reciprocal"}, {floats({2}, {4, -0.5f})}), {2}, {0.25f, -2});
  expect_ints(run({"Abs"}, {ints({2}, {-3, INT64_MIN})}), {2}, {3, INT64_MIN});
  expect_ints(run({"Not"}, {bools({2}, {0, 1})}), {2}, {1, 0});
  expect_ints(run({"IsInf", 10, {{"detect_negative", int64_t{0}}}}, {floats({3}, {-INFINITY, INFINITY, 1})}),
              {3}, {0, 1, 0});
  expect_refused({"Not"}, {counting({1})}, "expected bool");
  expect_refused({"Sqrt"}, {ints({1}, {4})}, "expected floating point", ErrorCode::unsupported);
}

TEST(Unary, WorksOnHalfPrecision) {
  const HostTensor x = cast(floats({2}, {1, -2}), DType::f16);
  const HostTensor y = run({"Neg"}, {x});
  EXPECT_EQ(y.dtype(), DType::f16);
  expect_floats(y, {2}, {-1, 2});
}

TEST(Binary, Broadcasts) {
  expect_floats(run({"Sub"}, {floats({2, 1}, {10, 20}), floats({3}, {1, 2, 3})}), {2, 3},
                {9, 8, 7, 19, 18, 17});
  expect_floats(run({"Mul"}, {floats({}, {2}), counting({2, 2})}), {2, 2}, {0, 2, 4, 6});
  EXPECT_EQ(run({"Add"}, {counting({0, 3}), counting({1, 1})}).shape(), (Shape{0, 3}));
}

TEST(Binary, DividesIntegersTowardsZeroAndSurvivesZero) {
  expect_ints(run({"Div"}, {ints({4}, {-7, 7, 5, INT64_MIN}), ints({4}, {2, 2, 0, -1})}), {4},
              {-3, 3, 0, INT64_MIN});
  expect_ints(run({"Mod"}, {ints({4}, {-7, 7, 5, INT64_MIN}), ints({4}, {3, -3, 0, -1})}), {4},
              {2, -2, 0, 0});
  expect_ints(run({"Mod", 13, {{"fmod", int64_t{1}}}}, {ints({2}, {-7, 7}), ints({2}, {3, -3})}), {2},
              {-1, 1});
}

TEST(Binary, WrapsIntegersAround) {
  expect_ints(run({"Add"}, {ints({1}, {INT64_MAX}), ints({1}, {1})}), {1}, {INT64_MIN});
  const auto u16 = [](int64_t v) { return HostTensor::from<int64_t>(DType::u16, {1}, std::array{v}); };
  expect_ints(run({"Mul"}, {u16(65535), u16(65535)}), {1}, {1});
}

TEST(Binary, RaisesToPowersOfAnotherType) {
  expect_floats(run({"Pow"}, {floats({2}, {2, 3}), ints({}, {3})}), {2}, {8, 27});
  expect_ints(run({"Pow"}, {ints({3}, {2, 3, 1}), ints({3}, {62, 4, -1})}), {3}, {int64_t{1} << 62, 81, 1});
}

TEST(Binary, ComparesIntoBooleans) {
  const HostTensor a = floats({3}, {1, 2, 3}), b = floats({}, {2});
  expect_ints(run({"Equal"}, {a, b}), {3}, {0, 1, 0});
  expect_ints(run({"GreaterOrEqual", 16}, {a, b}), {3}, {0, 1, 1});
  EXPECT_EQ(run({"Less"}, {a, b}).dtype(), DType::boolean);
  expect_ints(run({"Xor"}, {bools({2}, {0, 1}), bools({2}, {1, 1})}), {2}, {1, 0});
}

TEST(Binary, AppliesAFusedActivation) {
  const OptionalTensors inputs{floats({2}, {1, -3}), floats({}, {1})};
  const auto fused = make({"Add"}, inputs)->with_activation({ActivationKind::relu});
  ASSERT_NE(fused, nullptr);
  expect_floats(run_all(*fused, inputs)[0], {2}, {2, 0});
  EXPECT_EQ(make({"Equal"}, inputs)->with_activation({ActivationKind::relu}), nullptr);
}

TEST(Binary, RefusesTypesThatDoNotFit) {
  expect_refused({"Add"}, {counting({1}), ints({1}, {1})}, "A is float32 and B is int64");
  expect_refused({"Add"}, {bools({1}, {1}), bools({1}, {1})}, "bool");
  expect_refused({"And"}, {counting({1}), counting({1})}, "float32");
  expect_refused({"Add"}, {counting({2}), counting({3})}, "do not broadcast", ErrorCode::invalid_argument);
}

TEST(Variadic, FoldsAnyNumberOfInputs) {
  expect_floats(run({"Sum"}, {counting({2}), counting({2}), floats({}, {10})}), {2}, {10, 12});
  expect_floats(run({"Mean"}, {floats({1}, {1}), floats({1}, {4}), floats({1}, {4})}), {1}, {3});
  expect_floats(run({"Max"}, {floats({2}, {1, 9}), floats({2}, {5, 2})}), {2}, {5, 9});
  expect_floats(run({"Min"}, {floats({1}, {7})}), {1}, {7});
  EXPECT_EQ(make({"Max"}, {counting({1}), counting({1})})->type(), "Max");
}

TEST(PRelu, ScalesTheNegative) {
  const HostTensor x = floats({1, 2, 1, 2}, {-1, 1, -2, 2});
  expect_floats(run({"PRelu"}, {x, floats({2, 1, 1}, {0.5f, 10})}), {1, 2, 1, 2}, {-0.5f, 1, -20, 2});
  expect_refused({"PRelu"}, {counting({2}), counting({3, 2})}, "slope of shape 3x2");
}

TEST(Where, ChoosesElementwise) {
  expect_ints(run({"Where"}, {bools({2, 1}, {1, 0}), ints({2}, {1, 2}), ints({}, {9})}), {2, 2},
              {1, 2, 9, 9});
  expect_refused({"Where"}, {counting({1}), counting({1}), counting({1})}, "condition is");
}

}  // namespace
}  // namespace vellum::testing

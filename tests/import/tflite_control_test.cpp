// IF and WHILE of TFLite files.
#include <gtest/gtest.h>

#include <algorithm>

#include "import/import.hpp"
#include "passes/passes.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {
namespace {

constexpr int32_t kMul = 18, kRelu = 19, kNeg = 59, kLess = 58, kIf = 118, kWhile = 119;

HostTensor two(float a, float b) { return HostTensor::f32({2}, std::vector<float>{a, b}); }

void multiply(TfliteModel& m, int32_t a, int32_t b, int32_t product) {
  m.op(kMul, {a, b}, {product}, tfl::BuiltinOptions::MulOptions, tfl::CreateMulOptions(m.builder()).Union());
}

void call_while(TfliteModel& m, const std::vector<int32_t>& in, const std::vector<int32_t>& out,
                int32_t condition, int32_t body) {
  m.op(kWhile, in, out, tfl::BuiltinOptions::WhileOptions,
       tfl::CreateWhileOptions(m.builder(), condition, body).Union());
}

std::string if_model(bool condition) {
  TfliteModel m;
  const auto x = m.tensor("x", {2}), y = m.tensor("y", {2});
  const auto c = m.constant<uint8_t>("c", {}, {condition}, tfl::TensorType::boolean);
  m.op(kIf, {c, x}, {y}, tfl::BuiltinOptions::IfOptions, tfl::CreateIfOptions(m.builder(), 1, 2).Union());
  m.end_graph({x}, {y});
  for (const int32_t op : {kNeg, kRelu}) {
    const auto in = m.tensor("in", {2}), out = m.tensor("out", {2});
    m.op(op, {in}, {out});
    if (op == kNeg) m.end_graph({in}, {out});
  }
  return m.finish({0}, {1});
}

TEST(TfliteControl, IfIsTheGraphThatItsConditionChooses) {
  const std::vector<HostTensor> x{two(1, -3)};
  const Graph negated = optimise(import_model(as_bytes(if_model(true))), {}),
              cut = optimise(import_model(as_bytes(if_model(false))), {});
  EXPECT_TRUE(close(evaluate(negated, x)[0], two(-1, 3), 0));
  EXPECT_TRUE(close(evaluate(cut, x)[0], two(1, 0), 0));
  EXPECT_EQ(negated.nodes.size(), 1u);
}

// x * 2^steps; the loop counts, and hands `factor` on as it is.
std::string while_model(int32_t steps, int32_t body = 2) {
  TfliteModel m;
  const auto x = m.tensor("x", {2}), y = m.tensor("y", {2}),
             last = m.tensor("last", {}, tfl::TensorType::int32), kept = m.tensor("kept", {2});
  const auto zero = m.constant<int32_t>("zero", {}, {0}, tfl::TensorType::int32);
  const auto factor = m.floats("factor", {2}, {2, 2});
  call_while(m, {zero, x, factor}, {last, y, kept}, 1, body);
  m.end_graph({x}, {y, last});
  {
    const auto i = m.tensor("i", {}, tfl::TensorType::int32), v = m.tensor("v", {2}), f = m.tensor("f", {2});
    const auto end = m.constant<int32_t>("end", {}, {steps}, tfl::TensorType::int32);
    const auto more = m.tensor("more", {}, tfl::TensorType::boolean);
    m.op(kLess, {i, end}, {more});
    m.end_graph({i, v, f}, {more});
  }
  const auto i = m.tensor("i", {}, tfl::TensorType::int32), v = m.tensor("v", {2}), f = m.tensor("f", {2});
  const auto one = m.constant<int32_t>("one", {}, {1}, tfl::TensorType::int32);
  const auto next = m.tensor("next", {}, tfl::TensorType::int32), product = m.tensor("product", {2});
  add(m, i, one, next);
  multiply(m, v, f, product);
  return m.finish({i, v, f}, {next, product, f});
}

TEST(TfliteControl, WhileIsItsIterationsIfConstantsCountThem) {
  for (const int32_t steps : {0, 1, 3}) {
    const Graph graph = optimise(import_model(as_bytes(while_model(steps))), {});
    const auto results = evaluate(graph, std::vector<HostTensor>{two(1, -3)});
    const auto power = static_cast<float>(1 << steps);
    EXPECT_TRUE(close(results[0], two(power, -3 * power), 0)) << steps;
    EXPECT_EQ(results[1].to_ints(), std::vector<int64_t>{steps});
    EXPECT_EQ(graph.tail, nullptr);
    EXPECT_LE(graph.nodes.size(), static_cast<size_t>(std::max(steps, 1))) << to_text(graph);
  }
}

// A graph that calls itself, and one that calls two copies of the next one, and so on.
TEST(TfliteControl, GraphsThatCallTooManyOthersAreRefused) {
  EXPECT_VELLUM_ERROR(import_model(as_bytes(while_model(3, 0))), ErrorCode::unsupported, "16 deep");
  TfliteModel m;
  constexpr int kGraphs = 15;
  for (int32_t graph = 0; graph < kGraphs; ++graph) {
    int32_t x = m.tensor("x", {2});
    const auto c = m.constant<uint8_t>("c", {}, {1}, tfl::TensorType::boolean);
    for (int call = 0; call < 3; ++call) {
      const auto y = m.tensor("y", {2});
      if (graph + 1 < kGraphs)
        m.op(kIf, {c, x}, {y}, tfl::BuiltinOptions::IfOptions,
             tfl::CreateIfOptions(m.builder(), graph + 1, graph + 1).Union());
      else
        m.op(kNeg, {x}, {y});
      x = y;
    }
    if (graph + 1 < kGraphs) m.end_graph({0}, {x});
  }
  EXPECT_VELLUM_ERROR(import_model(as_bytes(m.finish({0}, {4}))), ErrorCode::unsupported, "131072");
}

TEST(TfliteControl, CallsThatDoNotFitTheirGraphAreRefused) {
  TfliteModel m;
  const auto x = m.tensor("x", {2}), y = m.tensor("y", {2});
  const auto c = m.constant<uint8_t>("c", {}, {1}, tfl::TensorType::boolean);
  m.op(kIf, {c, x}, {y}, tfl::BuiltinOptions::IfOptions, tfl::CreateIfOptions(m.builder(), 1, 1).Union());
  m.end_graph({x}, {y});
  const auto a = m.tensor("a", {2}), b = m.tensor("b", {2}), sum = m.tensor("sum", {2});
  add(m, a, b, sum);
  EXPECT_VELLUM_ERROR(import_model(as_bytes(m.finish({a, b}, {sum}))), ErrorCode::corrupt_model, "IF",
                      "2 inputs");
}

TEST(TfliteControl, AVariableInACalledGraphIsRefused) {
  TfliteModel m;
  const auto x = m.tensor("x", {2}), y = m.tensor("y", {2});
  const auto c = m.constant<uint8_t>("c", {}, {1}, tfl::TensorType::boolean);
  m.op(kIf, {c, x}, {y}, tfl::BuiltinOptions::IfOptions, tfl::CreateIfOptions(m.builder(), 1, 1).Union());
  m.end_graph({x}, {y});
  const auto a = m.tensor("a", {2}), b = m.tensor("b", {2});
  const int32_t state = variable(m, "state");
  read_variable(m, state, b);
  EXPECT_VELLUM_ERROR(import_model(as_bytes(m.finish({a}, {b}))), ErrorCode::unsupported, "VAR_HANDLE",
                      "variable");
}

}  // namespace
}  // namespace vellum::test

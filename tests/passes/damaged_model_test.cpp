// Models with flipped bytes through import, shape inference, every pass and the host reference: an Error or a
// result.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "api/detection_model.hpp"
#include "import/import.hpp"
#include "passes/passes.hpp"
#include "support/onnx_builder.hpp"
#include "support/small_tensors.hpp"
#include "support/tensors.hpp"
#include "vellum/error.hpp"

namespace vellum::test {
namespace {

// Small, with operators of every kind whose shape rules do arithmetic on what the file says.
std::string sample_model() {
  OnnxModel model;
  model.input("x", {kUnknownDim, 2, 6, 6});
  model.initializer("w", random_tensor({4, 2, 3, 3}, 1)).initializer("dw", random_tensor({4, 1, 3, 3}, 2));
  model.initializer("c", random_tensor({4, 1, 1}, 3)).initializer("pads", ints({0, 0, 1, 1, 0, 0, 1, 1}));
  model.initializer("two", ints({2})).initializer("four", ints({4})).initializer("zero", ints({0}));
  model.initializer("hw", ints({12, 12}))
      .initializer("shape", ints({0, 4, -1}))
      .initializer("empty", HostTensor(DType::f32, {0}));
  model.initializer("zeros_shape", ints({1, 2, 6, 6}));
  model.node("Pad", {"x", "pads"}, {"p"}, {}, "pad").node("Conv", {"p", "w"}, {"a"}, {}, "conv");
  model.node("Mul", {"a", "c"}, {"b"}).node("Relu", {"b"}, {"d"});
  model.node("Conv", {"d", "dw"}, {"e"},
             attributes({{"group", int64_t{4}},
                         {"pads", Attributes::Ints{2, 2, 2, 2}},
                         {"dilations", Attributes::Ints{2, 2}}}));
  model.node("ConstantOfShape", {"zeros_shape"}, {"zeros"});
  model.node("Concat", {"x", "zeros"}, {"widened"}, attributes({{"axis", int64_t{1}}}));
  model.node("Add", {"e", "widened"}, {"f"});
  model.node("MaxPool", {"f"}, {"g"},
             attributes({{"kernel_shape", Attributes::Ints{2, 2}},
                         {"strides", Attributes::Ints{2, 2}},
                         {"ceil_mode", int64_t{1}}}));
  model.node("Shape", {"g"}, {"s"}).node("Slice", {"s", "zero", "two", "zero"}, {"nc"});
  model.node("Concat", {"nc", "hw"}, {"sizes"}, attributes({{"axis", int64_t{0}}}));
  model.node("Resize", {"g", "empty", "empty", "sizes"}, {"r"},
             attributes({{"mode", std::string("linear")}}));
  model.node("Transpose", {"r"}, {"t"}, attributes({{"perm", Attributes::Ints{0, 2, 3, 1}}}));
  model.node("Softmax", {"t"}, {"u"}, attributes({{"axis", int64_t{-1}}}));
  model.node("Reshape", {"u", "shape"}, {"y"}).output("y").output("r");
  return model.bytes();
}

// Flips can make sizes that are valid and large; running those shows nothing and takes long.
bool is_small(const Graph& graph) {
  int64_t elements = 0;
  uint64_t macs = 0;
  for (const Value& value : graph.values) elements += value.type_known ? element_count(value.type.shape) : 0;
  for (const Node& node : graph.nodes) macs += node.op->macs(operator_inputs(graph, node));
  return elements < 100000 && macs < 5000000;
}

enum class Outcome { refused, prepared, ran };

Outcome run_or_refuse(const std::string& bytes) {
  Outcome outcome = Outcome::refused;
  try {
    const Graph graph = optimise(import_model(as_bytes(bytes)), {});
    outcome = Outcome::prepared;
    if (!is_small(graph)) return outcome;
    evaluate(graph, random_inputs(graph, 1));
    outcome = Outcome::ran;
  } catch (const Error& error) {
    EXPECT_STRNE(error.what(), "");
    EXPECT_NE(error.code(), ErrorCode::internal) << error.what();
  }
  return outcome;
}

TEST(DamagedModel, WholeOnesRun) {
  EXPECT_EQ(run_or_refuse(sample_model()), Outcome::ran);
  EXPECT_EQ(run_or_refuse(detection_model().bytes()), Outcome::ran);
}

class DamagedModel : public testing::TestWithParam<uint32_t> {};

void expect_refused_or_run(const std::string& whole, uint32_t seed, int rounds = 500) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  size_t ran = 0, refused = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string damaged = whole;
    for (auto flips = 1 + random() % 3; flips > 0; --flips) {
      damaged[random() % damaged.size()] ^= static_cast<char>(1u << (random() % 8));
    }
    const Outcome outcome = run_or_refuse(damaged);
    ran += outcome == Outcome::ran;
    refused += outcome == Outcome::refused;
  }
  EXPECT_GT(ran, 20u);
  EXPECT_GT(refused, 20u);
}

TEST_P(DamagedModel, IsRefusedOrRuns) { expect_refused_or_run(sample_model(), GetParam()); }

// With a tail, whose shapes follow from values that nobody checked before. More of the file are names, so
// that fewer flips leave a model that runs.
TEST_P(DamagedModel, WithATailIsRefusedOrRuns) {
  expect_refused_or_run(detection_model().bytes(), GetParam(), 2000);
}

INSTANTIATE_TEST_SUITE_P(Seeds, DamagedModel, testing::Values(1u, 2u, 3u, 4u));

}  // namespace
}  // namespace vellum::test

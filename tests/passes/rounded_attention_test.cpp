// Attention of quantised models, whose scores, weights and operands are rounded.
#include <algorithm>

#include "attention_of.hpp"
#include "graph/operators/matmul/attention.hpp"
#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

// Where quantised models round: the scaled scores, the weights, and the product before heads are merged.
enum class Rounds { nothing_else, scores_before_their_scale, scores_that_are_masked_then };

Graph rounded(Rounds rounds) {
  OnnxModel m;
  m.input("q", {2, 3, 5, 4}).input("k", {2, 3, 4, 7}).input("v", {2, 3, 7, 8});
  m.initializer("two", scalar(2.0f)).initializer("mask", random_tensor({5, 7}, 3));
  m.initializer("step", scalar(0.125f)).initializer("fine", scalar(1.0f / 256.0f));
  m.initializer("middle", HostTensor::from<int64_t>(DType::u8, {}, std::array{int64_t{128}}));
  m.initializer("zero", HostTensor::from<int64_t>(DType::u8, {}, std::array{int64_t{0}}));
  const auto round = [&](const std::string& from, const std::string& to, const char* step, const char* zero) {
    m.node("QuantizeLinear", {from, step, zero}, {to + "_q"});
    m.node("DequantizeLinear", {to + "_q", step, zero}, {to});
  };
  m.node("MatMul", {"q", "k"}, {"products"});
  if (rounds == Rounds::scores_before_their_scale) {
    round("products", "early", "step", "middle");
    m.node("Div", {"early", "two"}, {"scores"});
  } else {
    m.node("Div", {"products", "two"}, {"scaled"});
    if (rounds == Rounds::scores_that_are_masked_then) {
      m.node("Add", {"scaled", "mask"}, {"masked"});
      round("masked", "scores", "step", "middle");
    } else {
      round("scaled", "scores", "step", "middle");
    }
  }
  m.node("Softmax", {"scores"}, {"p"}, attributes({{"axis", int64_t{-1}}}));
  round("p", "weights", "fine", "zero");
  m.node("MatMul", {"weights", "v"}, {"heads"});
  round("heads", "result", "step", "middle");
  m.node("Transpose", {"result"}, {"y"}, attributes({{"perm", Attributes::Ints{0, 2, 1, 3}}})).output("y");
  const auto passes = [](Graph& graph) {
    fuse_quantization(graph);
    fuse_attention(graph);
  };
  return after(passes, m);
}

TEST(FuseAttention, RoundedScoresAndWeights) {
  const Graph graph = rounded(Rounds::nothing_else);
  ASSERT_EQ(types(graph), "Attention FakeQuantize");
  const Attention& attention = attention_of(graph);
  EXPECT_EQ(attention.scale, 0.5f);
  EXPECT_TRUE(attention.tokens_first);
  EXPECT_EQ(attention.score_rounding, (Activation{.step = 0.125f, .least = -128, .most = 127}));
  EXPECT_EQ(attention.weight_rounding, (Activation{.step = 1.0f / 256.0f, .least = 0, .most = 255}));
}

// The kernel rounds between the scale and the mask.
TEST(FuseAttention, ScoresThatAreRoundedElsewhereStay) {
  EXPECT_EQ(types(rounded(Rounds::scores_before_their_scale)),
            "MatMul FakeQuantize Div Softmax FakeQuantize MatMul FakeQuantize Transpose");
  EXPECT_EQ(types(rounded(Rounds::scores_that_are_masked_then)),
            "MatMul Div Add FakeQuantize Softmax FakeQuantize MatMul FakeQuantize Transpose");
}

// Attention of rounded scores and weights, whose queries, keys and values are parts of one tensor. The
// queries, and with `rounds_keys` the keys, are scaled and rounded after they were taken from it.
struct PartsCase {
  bool rounds_keys = false;
  const char* scaling = "Div";
  float scale = 2.0f;
  bool shares_parts = false;  // one Reshape and Transpose are of all three parts
};

Graph rounded_parts(const PartsCase& test) {
  OnnxModel m;
  m.input("x", {2, 5, 24});
  m.initializer("scale", scalar(test.scale))
      .initializer("step", scalar(0.125f))
      .initializer("fine", scalar(1.0f / 256.0f));
  m.initializer("middle", HostTensor::from<int64_t>(DType::u8, {}, std::array{int64_t{128}}));
  m.initializer("zero", HostTensor::from<int64_t>(DType::u8, {}, std::array{int64_t{0}}));
  m.initializer("heads", HostTensor::i64({4}, std::vector<int64_t>{2, 5, 2, 4}));
  m.initializer("parts", HostTensor::i64({5}, std::vector<int64_t>{2, 5, 3, 2, 4}));
  m.initializer("last", HostTensor::i64({1}, std::vector<int64_t>{2}));
  const auto round = [&](const std::string& from, const std::string& to, const char* step, const char* zero) {
    m.node("QuantizeLinear", {from, step, zero}, {to + "_q"});
    m.node("DequantizeLinear", {to + "_q", step, zero}, {to});
  };
  const auto scale_and_round = [&](const std::string& part, const std::string& to) {
    m.node(test.scaling, {part, "scale"}, {part + "_scaled"});
    round(part + "_scaled", to, "step", "middle");
  };
  m.node("Neg", {"x"}, {"n"});
  if (test.shares_parts) {
    m.node("Reshape", {"n", "parts"}, {"n_parts"});
    m.node("Transpose", {"n_parts"}, {"first"}, attributes({{"perm", Attributes::Ints{2, 0, 1, 3, 4}}}));
  }
  for (const int part : {0, 1, 2}) {
    const std::string name = std::to_string(part);
    if (test.shares_parts) {
      m.initializer("index" + name, HostTensor::from<int64_t>(DType::i64, {}, std::array{int64_t{part}}));
      m.node("Gather", {"first", "index" + name}, {"shaped" + name}, attributes({{"axis", int64_t{0}}}));
    } else {
      for (const int64_t at : {int64_t{8} * part, int64_t{8} * (part + 1)})
        m.initializer("at" + name + std::to_string(at), HostTensor::i64({1}, std::vector<int64_t>{at}));
      m.node(
          "Slice",
          {"n", "at" + name + std::to_string(8 * part), "at" + name + std::to_string(8 * (part + 1)), "last"},
          {"slice" + name});
      m.node("Reshape", {"slice" + name, "heads"}, {"shaped" + name});
    }
    m.node("Transpose", {"shaped" + name}, {"part" + name},
           attributes({{"perm", part == 1 ? Attributes::Ints{0, 2, 3, 1} : Attributes::Ints{0, 2, 1, 3}}}));
  }
  scale_and_round("part0", "q");
  if (test.rounds_keys) scale_and_round("part1", "k");
  m.node("MatMul", {"q", test.rounds_keys ? "k" : "part1"}, {"products"});
  round("products", "scores", "step", "middle");
  m.node("Softmax", {"scores"}, {"p"}, attributes({{"axis", int64_t{-1}}}));
  round("p", "weights", "fine", "zero");
  m.node("MatMul", {"weights", "part2"}, {"y"}).output("y");
  const auto passes = [](Graph& graph) {
    fuse_quantization(graph);
    fuse_attention(graph);
  };
  return after(passes, m);
}

// The whole tensor is scaled and rounded, and all three are views.
TEST(FuseAttention, QueriesThatAreRoundedOnTheirOwn) {
  EXPECT_EQ(types(rounded_parts({})), "Neg Div FakeQuantize Attention");
}

// Nodes that all three parts share cannot round: attention does.
TEST(FuseAttention, PartsThatAreRoundedWhileTheyAreGathered) {
  const Graph graph =
      rounded_parts({.rounds_keys = true, .scaling = "Mul", .scale = 0.3f, .shares_parts = true});
  ASSERT_EQ(types(graph), "Neg Attention");
  const Attention& attention = attention_of(graph);
  const OperandRounding rounding{0.3f, {.step = 0.125f, .least = -128, .most = 127}};
  EXPECT_EQ(attention.q_rounding, rounding);
  EXPECT_EQ(attention.k_rounding, rounding);
  EXPECT_EQ(attention.scale, 1.0f);
  const Graph halved = rounded_parts({.shares_parts = true});
  EXPECT_EQ(attention_of(halved).q_rounding.factor, 0.5f);
  EXPECT_FALSE(attention_of(halved).k_rounding);
}

// A quotient by 3 is another float than the product with a third.
TEST(FuseAttention, QuotientsThatAreNoProductsStay) {
  const Graph graph = rounded_parts({.scaling = "Div", .scale = 3.0f, .shares_parts = true});
  EXPECT_EQ(std::ranges::count_if(graph.nodes, [](const Node& n) { return n.op->type() == "Div"; }), 1);
}

}  // namespace
}  // namespace vellum::test

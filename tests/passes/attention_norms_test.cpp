// Attention whose queries and keys are normalised.
#include <gtest/gtest.h>

#include <vector>

#include "attention_of.hpp"
#include "graph/operators/matmul/attention.hpp"
#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

struct NormedHeads {
  Shape factors{3, 1, 1};  // of the scores; empty: none
  bool normalizes_k = true;
  bool reads_again = false;  // the normalised keys are an output, too
};

// Attention of three heads with 4 channels, whose Q, K and V one matrix x has.
OnnxModel normed_heads(const NormedHeads& form) {
  OnnxModel m(23);
  m.input("x", {2, 5, 36}).initializer("heads", ints({2, 5, 3, 3, 4}));
  m.initializer("q_scale", random_tensor({4}, 2)).initializer("k_scale", random_tensor({4}, 3));
  m.node("Reshape", {"x", "heads"}, {"r"});
  m.node("Transpose", {"r"}, {"t"}, attributes({{"perm", Attributes::Ints{2, 0, 3, 1, 4}}}));
  for (int64_t i = 0; i < 3; ++i) {
    const std::string name = i == 0 ? "q" : i == 1 ? "k" : "v";
    m.initializer("index_" + name, HostTensor::i64({}, std::vector<int64_t>{i}));
    m.node("Gather", {"t", "index_" + name}, {name});
  }
  const auto axis = attributes({{"axis", int64_t{-1}}});
  m.node("RMSNormalization", {"q", "q_scale"}, {"qn"}, axis);
  m.node(form.normalizes_k ? "RMSNormalization" : "LayerNormalization", {"k", "k_scale"}, {"kn"}, axis);
  m.node("Transpose", {"kn"}, {"kt"}, attributes({{"perm", Attributes::Ints{0, 1, 3, 2}}}));
  m.node("MatMul", {"qn", "kt"}, {"s"});
  if (!form.factors.empty())
    m.initializer("factors", random_tensor(form.factors, 4)).node("Mul", {"s", "factors"}, {"m"});
  m.node("Softmax", {form.factors.empty() ? "s" : "m"}, {"p"}, axis);
  m.node("MatMul", {"p", "v"}, {"y"}).output("y");
  if (form.reads_again) m.output("kn");
  return m;
}

Graph fused_norms(const NormedHeads& form) {
  return after(
      [](Graph& graph) {
        fuse_attention(graph);
        fuse_attention_norms(graph);
      },
      normed_heads(form));
}

TEST(FuseAttentionNorms, NormalisedQueriesAndKeysOfOneProduct) {
  for (const Shape& factors : {Shape{}, Shape{3, 1, 1}}) {
    const Graph graph = fused_norms({.factors = factors});
    EXPECT_EQ(types(graph), "Attention");
    const Attention& attention = attention_of(graph);
    EXPECT_EQ(attention.q_norm.factors.size(), 12u);
    EXPECT_EQ(attention.k_norm.factors.size(), 12u);
    EXPECT_EQ((*attention.views)[1].offset, 12);
  }
}

TEST(FuseAttentionNorms, OthersStay) {
  EXPECT_FALSE(attention_of(fused_norms({.normalizes_k = false})).q_norm);
  EXPECT_FALSE(attention_of(fused_norms({.reads_again = true})).q_norm);
}

}  // namespace
}  // namespace vellum::test

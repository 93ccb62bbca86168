// Masks between the product of queries and keys and the softmax, which become one mask of Attention.
#include <gtest/gtest.h>

#include <string>

#include "passes/attention_of.hpp"
#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

constexpr int64_t kTokens = 5, kKeys = 7;
const Shape kScores{2, 3, kTokens, kKeys};

HostTensor one_number(float value) { return HostTensor::f32({}, std::vector<float>{value}); }

// A mask of causal order as a constant.
HostTensor lower_triangle() {
  std::vector<int64_t> sees;
  for (int64_t i = 0; i < kTokens; ++i)
    for (int64_t j = 0; j < kKeys; ++j) sees.push_back(j <= i ? 1 : 0);
  return HostTensor::from<int64_t>(DType::boolean, {1, 1, kTokens, kKeys}, sees);
}

// Attention whose scores are `scores`, computed from "s".
class MaskedAttention {
 public:
  OnnxModel model;

  MaskedAttention() {
    model.input("q", {2, 3, kTokens, 4}).input("k", {2, 3, 4, kKeys}).input("v", {2, 3, kKeys, 8});
    model.initializer("least", one_number(-3e38f))
        .initializer("small", one_number(-10.0f))
        .initializer("half", one_number(0.5f))
        .initializer("none", one_number(0.0f));
    model.node("MatMul", {"q", "k"}, {"s"});
  }

  void add_condition(const std::string& name, const Shape& shape) {
    model.input(name + "_numbers", shape).node("Greater", {name + "_numbers", "none"}, {name});
  }

  Graph with(const std::string& scores) {
    model.node("Softmax", {scores}, {"p"}, attributes({{"axis", int64_t{-1}}}))
        .node("MatMul", {"p", "v"}, {"y"})
        .output("y");
    return after(fuse_attention, model);
  }
};

// CodeGen divides the masked scores.
TEST(ScoreMasks, OfScaledScoresAreScaled) {
  MaskedAttention computed;
  computed.model.input("mask", {2, 1, kTokens, kKeys});
  computed.model.node("Add", {"s", "mask"}, {"m"}).node("Mul", {"m", "half"}, {"scaled"});
  EXPECT_EQ(types(computed.with("scaled")), "Mul Attention");
  MaskedAttention constant;
  constant.model.initializer("mask", random_tensor({kTokens, kKeys}, 3));
  constant.model.node("Add", {"mask", "s"}, {"m"}).node("Mul", {"m", "half"}, {"scaled"});
  EXPECT_EQ(types(constant.with("scaled")), "Attention");
}

// GPT-Neo's window, and MPT's condition of excluded keys.
TEST(ScoreMasks, OfConditions) {
  MaskedAttention kept;
  kept.add_condition("sees", {2, 1, kTokens, kKeys});
  kept.model.node("Where", {"sees", "s", "least"}, {"m"});
  EXPECT_EQ(types(kept.with("m")), "Greater Where Attention");
  MaskedAttention excluded;
  excluded.add_condition("hides", {kTokens, kKeys});
  excluded.model.node("Where", {"hides", "least", "s"}, {"m"}).node("Mul", {"m", "half"}, {"scaled"});
  EXPECT_EQ(types(excluded.with("scaled")), "Greater Where Attention");
  MaskedAttention constant;
  constant.model.initializer("sees", lower_triangle()).node("Where", {"sees", "s", "least"}, {"m"});
  EXPECT_EQ(types(constant.with("m")), "Attention");
}

// A number that scores may be as low as replaces them, and is not added.
TEST(ScoreMasks, ThatReplaceScoresByCommonNumbersStay) {
  MaskedAttention replaced;
  replaced.model.initializer("sees", lower_triangle()).node("Where", {"sees", "s", "small"}, {"m"});
  EXPECT_EQ(types(replaced.with("m")), "MatMul Where Softmax MatMul");
}

// BLOOM adds slopes of the heads and a mask of keys, MPT a constant and a condition.
TEST(ScoreMasks, OfSeveralNodesAreAddedUp) {
  MaskedAttention floats;
  floats.model.input("slopes", {3, 1, kKeys}).input("mask", {2, 3, kTokens, kKeys});
  floats.model.node("Add", {"slopes", "s"}, {"a"}).node("Add", {"a", "mask"}, {"m"});
  const Graph sum = floats.with("m");
  EXPECT_EQ(types(sum), "Add Attention");
  EXPECT_EQ(sum.values[sum.nodes[1].inputs[3]].type.shape, kScores);
  MaskedAttention mixed;
  mixed.add_condition("sees", {2, 1, kTokens, kKeys});
  mixed.model.initializer("bias", random_tensor({3, 1, kKeys}, 3));
  mixed.model.node("Add", {"s", "bias"}, {"a"}).node("Where", {"sees", "a", "least"}, {"m"});
  EXPECT_EQ(types(mixed.with("m")), "Greater Where Attention");
  MaskedAttention three;
  three.add_condition("sees", {kTokens, kKeys});
  three.model.input("slopes", {3, 1, kKeys}).input("mask", {2, 1, 1, kKeys});
  three.model.node("Where", {"sees", "s", "least"}, {"a"})
      .node("Add", {"a", "slopes"}, {"b"})
      .node("Add", {"b", "mask"}, {"m"});
  EXPECT_EQ(types(three.with("m")), "Greater Add Where Attention");
}

TEST(ScoreMasks, OfIntegersOrFiveDimensionsStay) {
  MaskedAttention five;
  five.model.input("mask", {1, 2, 1, kTokens, kKeys});
  five.model.initializer("four", HostTensor::i64({4}, std::vector<int64_t>{2, 3, kTokens, kKeys}));
  five.model.node("Add", {"s", "mask"}, {"m"}).node("Reshape", {"m", "four"}, {"m4"});
  EXPECT_EQ(types(five.with("m4")), "MatMul Add Reshape Softmax MatMul");
}

}  // namespace
}  // namespace vellum::test

// Rows divided by their Euclidean length.
#include <gtest/gtest.h>

#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

struct Form {
  float epsilon = 1e-12f;
  int64_t axis = -1;
  bool expands = true, bounded = true, other = false;
};

std::string fused(const Form& form) {
  OnnxModel m(13);
  m.input("x", {2, 3, 5}).input("z", {2, 3, 5});
  m.initializer("epsilon", HostTensor::f32({}, std::vector<float>{form.epsilon}));
  m.initializer("shape", HostTensor::i64({3}, std::vector<int64_t>{2, 3, 5}));
  m.node("ReduceL2", {"x"}, {"n"},
         attributes({{"axes", std::vector<int64_t>{form.axis}}, {"keepdims", int64_t{1}}}));
  std::string divisor = "n";
  if (form.bounded) m.node("Clip", {divisor, "epsilon"}, {"c"}), divisor = "c";
  if (form.expands) m.node("Expand", {divisor, "shape"}, {"e"}), divisor = "e";
  m.node("Div", {form.other ? "z" : "x", divisor}, {"y"}).output("y");
  return types(after(fuse_length_norm, m));
}

TEST(FuseLengthNorm, AsTorchExportsIt) {
  EXPECT_EQ(fused({}), "RMSNormalization");
  EXPECT_EQ(fused({.expands = false}), "RMSNormalization");
  EXPECT_EQ(fused({.expands = false, .bounded = false}), "RMSNormalization");
}

TEST(FuseLengthNorm, WhatIsAnotherFunctionStays) {
  EXPECT_EQ(fused({.epsilon = 1e-3f}), "ReduceL2 Clip Expand Div");
  EXPECT_EQ(fused({.axis = 1}), "ReduceL2 Clip Expand Div");
  EXPECT_EQ(fused({.other = true}), "ReduceL2 Clip Expand Div");
}

}  // namespace
}  // namespace vellum::test

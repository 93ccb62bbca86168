// Group normalisation as torch exports it for operator sets before 18.
#include <gtest/gtest.h>

#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

struct GroupNormForm {
  int64_t groups = 2;
  Shape factors{6, 1, 1};  // of the product and the sum after it; none: neither of them
  bool returns = true;     // to the shape before the groups
  bool read_twice = false, activated = false;
};

OnnxModel group_norm_model(const GroupNormForm& form) {
  OnnxModel m(17);
  m.input("x", {2, 6, 3, 5});
  m.initializer("grouped", HostTensor::i64({3}, std::vector<int64_t>{0, form.groups, -1}));
  m.initializer("shape", HostTensor::i64({4}, form.returns ? std::vector<int64_t>{2, 6, 3, 5}
                                                           : std::vector<int64_t>{2, 6, 5, 3}));
  m.initializer("ones", random_tensor({form.groups}, 2))
      .initializer("zeros", random_tensor({form.groups}, 3));
  m.node("Reshape", {"x", "grouped"}, {"g"})
      .node("InstanceNormalization", {"g", "ones", "zeros"}, {"n"}, attributes({{"epsilon", 0.01f}}))
      .node("Reshape", {"n", "shape"}, {"r"});
  if (form.factors.empty()) return std::move(m.output("r"));
  m.initializer("scale", random_tensor(form.factors, 4)).initializer("bias", random_tensor(form.factors, 5));
  m.node("Mul", {"r", "scale"}, {"s"}).node("Add", {"s", "bias"}, {"y"});
  if (form.activated)
    m.node("Sigmoid", {"y"}, {"o"}).node("Mul", {"y", "o"}, {"silu"}).output("silu");
  else
    m.output("y");
  if (form.read_twice) m.node("Neg", {"n"}, {"z"}).output("z");
  return m;
}

std::string group_normed(const GroupNormForm& form) {
  return types(after(fuse_group_norm, group_norm_model(form)));
}

TEST(FuseGroupNorm, AsTorchExportsIt) {
  for (const int64_t groups : {1, 2, 3, 6})
    for (const Shape& factors : {Shape{}, Shape{6, 1, 1}, Shape{1, 6, 1, 1}})
      EXPECT_EQ(group_normed({.groups = groups, .factors = factors}), "GroupNormalization") << groups;
}

// The activation after it becomes a part of it.
TEST(FuseGroupNorm, TakesItsActivation) {
  const auto all = [](Graph& graph) { graph = optimise(graph, {}); };
  EXPECT_EQ(types(after(all, group_norm_model({.activated = true}))), "GroupNormalization");
}

TEST(FuseGroupNorm, WhatIsAnotherFunctionStays) {
  EXPECT_EQ(group_normed({.returns = false}), "Reshape InstanceNormalization Reshape Mul Add");
  EXPECT_EQ(group_normed({.read_twice = true}), "Reshape InstanceNormalization Reshape Mul Add Neg");
  EXPECT_EQ(group_normed({.factors = {3, 5}}), "GroupNormalization Mul Add") << "factors of pixels";
}

}  // namespace
}  // namespace vellum::test

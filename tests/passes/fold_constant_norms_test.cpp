// Normalisations whose results are constants.
#include <gtest/gtest.h>

#include <string>

#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

// Tokens of `channels` channels that are normalised, multiplied by a matrix and added to the tokens.
std::string folded_norm(int64_t channels, bool has_bias, const std::string& norm = "LayerNormalization") {
  OnnxModel m(23);
  m.input("x", {2, 5, channels});
  m.initializer("scale", random_tensor({channels}, 1)).initializer("bias", random_tensor({channels}, 2));
  m.initializer("matrix", random_tensor({channels, channels}, 3));
  std::vector<std::string> inputs{"x", "scale"};
  if (has_bias) inputs.emplace_back("bias");
  m.node(norm, inputs, {"n"}, attributes({{"axis", int64_t{-1}}}));
  m.node("MatMul", {"n", "matrix"}, {"p"}).node("Add", {"x", "p"}, {"y"}).output("y");
  return types(after(fold_constant_norms, m));
}

TEST(FoldConstantNorms, SingleElementsAreTheirMean) {
  EXPECT_EQ(folded_norm(1, true), "Add");
  EXPECT_EQ(folded_norm(1, false), "Add");
}

TEST(FoldConstantNorms, OthersStay) {
  EXPECT_EQ(folded_norm(2, true), "LayerNormalization MatMul Add");
  EXPECT_EQ(folded_norm(1, false, "RMSNormalization"), "RMSNormalization MatMul Add");
}

}  // namespace
}  // namespace vellum::test

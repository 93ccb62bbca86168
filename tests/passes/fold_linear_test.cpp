// Normalisation, scale and bias folded into the weights of convolutions and matrix products.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "passes/pass_harness.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

// x -> linear -> "l", ready for what follows it. Six output channels of N x 4 x 5 x 7 images.
OnnxModel with_linear(const std::string& type, bool bias, int64_t group = 1) {
  OnnxModel model;
  std::vector<std::string> inputs = {"x", "w"};
  if (bias) inputs.push_back("b");
  model.initializer("b", random_tensor({6}, 2));
  Attributes attrs;
  if (type == "Gemm") {
    model.input("x", {3, 4}).initializer("w", random_tensor({6, 4}, 3));
    attrs = attributes({{"transB", int64_t{1}}, {"alpha", 0.5f}, {"beta", 2.0f}});
  } else {
    model.input("x", {2, 4, 5, 7});
    attrs = attributes({{"group", group}, {"pads", Attributes::Ints{1, 0, 1, 0}}});
    const Shape weights = type == "Conv" ? Shape{6, 4 / group, 3, 3} : Shape{4, 6 / group, 3, 3};
    model.initializer("w", random_tensor(weights, 3));
  }
  model.node(type, inputs, {"l"}, attrs, "linear");
  return model;
}

void add_batch_norm(OnnxModel& model, const std::string& from, const std::string& to) {
  model.initializer("gamma", random_tensor({6}, 4)).initializer("beta", random_tensor({6}, 5));
  model.initializer("mean", random_tensor({6}, 6)).initializer("variance", random_tensor({6}, 7, 0.1f, 2.0f));
  model.node("BatchNormalization", {from, "gamma", "beta", "mean", "variance"}, {to},
             attributes({{"epsilon", 1e-3f}}));
}

// Constants broadcast over (N, C) for Gemm and over (N, C, H, W) for the others.
Shape channel_shape(const std::string& type) { return type == "Gemm" ? Shape{6} : Shape{6, 1, 1}; }

struct LinearCase {
  std::string type;
  bool bias;
  int64_t group;
};

class FoldLinear : public testing::TestWithParam<LinearCase> {
 protected:
  OnnxModel model() const { return with_linear(GetParam().type, GetParam().bias, GetParam().group); }
  HostTensor channels(uint32_t seed) const { return random_tensor(channel_shape(GetParam().type), seed); }
};

TEST_P(FoldLinear, BatchNormalization) {
  OnnxModel m = model();
  add_batch_norm(m, "l", "y");
  EXPECT_EQ(types(after(fold_batch_norm, m.output("y"))), GetParam().type);
}

TEST_P(FoldLinear, MulByChannels) {
  OnnxModel m = model();
  m.initializer("c", channels(9)).node("Mul", {"c", "l"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fold_scale, m)), GetParam().type);
}

TEST_P(FoldLinear, DivByScalar) {
  OnnxModel m = model();
  m.initializer("c", scalar(1.7f)).node("Div", {"l", "c"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fold_scale, m)), GetParam().type);
}

TEST_P(FoldLinear, AddOfChannels) {
  OnnxModel m = model();
  m.initializer("c", channels(9)).node("Add", {"l", "c"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_bias, m)), GetParam().type);
}

TEST_P(FoldLinear, SubInEitherOrder) {
  OnnxModel m = model();
  m.initializer("c", channels(9)).node("Sub", {"l", "c"}, {"d"}).node("Sub", {"c", "d"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_bias, m)), GetParam().type);
}

TEST_P(FoldLinear, ChainsOfAllInAnyOrder) {
  OnnxModel m = model();
  m.initializer("c", channels(9)).node("Add", {"l", "c"}, {"a"});
  add_batch_norm(m, "a", "n");
  m.node("Mul", {"n", "c"}, {"s"}).node("Sub", {"c", "s"}, {"t"}).node("Relu", {"t"}, {"y"}).output("y");
  EXPECT_EQ(types(after([](Graph& graph) { graph = optimise(graph, {}); }, m)), GetParam().type);
}

INSTANTIATE_TEST_SUITE_P(Linear, FoldLinear,
                         testing::Values(LinearCase{"Conv", true, 1}, LinearCase{"Conv", false, 1},
                                         LinearCase{"Conv", true, 2}, LinearCase{"ConvTranspose", true, 1},
                                         LinearCase{"ConvTranspose", false, 2}, LinearCase{"Gemm", true, 1},
                                         LinearCase{"Gemm", false, 1}),
                         [](const auto& param_info) {
                           const LinearCase& c = param_info.param;
                           return c.type + (c.bias ? "Biased" : "") + "Group" + std::to_string(c.group);
                         });

TEST(FoldLinear, ValueReadTwiceStays) {
  OnnxModel m = with_linear("Conv", true);
  m.initializer("c", scalar(2.0f))
      .node("Mul", {"l", "c"}, {"y"})
      .node("Relu", {"l"}, {"z"})
      .output("y")
      .output("z");
  EXPECT_EQ(types(after(fold_scale, m)), "Conv Mul Relu");
}

TEST(FoldLinear, GraphOutputStays) {
  OnnxModel m = with_linear("Conv", true);
  m.initializer("c", scalar(2.0f)).node("Mul", {"l", "c"}, {"y"}).output("y").output("l");
  EXPECT_EQ(types(after(fold_scale, m)), "Conv Mul");
}

TEST(FoldLinear, SharedWeightsChangeForOneReaderOnly) {
  OnnxModel m = with_linear("Conv", true);
  m.node("Conv", {"x", "w", "b"}, {"other"}, attributes({{"pads", Attributes::Ints{1, 0, 1, 0}}}));
  m.initializer("c", scalar(2.0f)).node("Mul", {"l", "c"}, {"y"}).output("y").output("other");
  EXPECT_EQ(types(after(fold_scale, m)), "Conv Conv");
}

TEST(FoldLinear, ConstantsThatVaryInSpaceStay) {
  OnnxModel m = with_linear("Conv", true);
  m.initializer("c", random_tensor({6, 5, 5}, 9)).node("Add", {"l", "c"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_bias, m)), "Conv Add");
}

TEST(FoldLinear, ConstantsThatEnlargeTheResultStay) {
  OnnxModel m;
  m.input("x", {1, 4, 1, 1}).initializer("w", random_tensor({6, 4, 1, 1}, 1)).node("Conv", {"x", "w"}, {"l"});
  m.initializer("c", random_tensor({6, 2, 2}, 9)).node("Add", {"l", "c"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_bias, m)), "Conv Add");
}

TEST(FoldLinear, DivisionByZeroStays) {
  OnnxModel m = with_linear("Conv", true);
  m.initializer("c", scalar(0.0f)).node("Div", {"l", "c"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fold_scale, m)), "Conv Div");
}

TEST(FoldLinear, HalfWeightsThatWouldOverflowStay) {
  OnnxModel m;
  m.input("x", {1, 1, 2, 2}, DType::f16);
  m.initializer("w", HostTensor::from<float>(DType::f16, {1, 1, 1, 1}, std::vector<float>{1000.0f}));
  m.initializer("c", HostTensor::from<float>(DType::f16, {}, std::vector<float>{1000.0f}));
  m.node("Conv", {"x", "w"}, {"l"}).node("Mul", {"l", "c"}, {"y"}).output("y");
  Graph graph = m.graph();
  infer_shapes_and_fold(graph, {});
  fold_scale(graph);
  EXPECT_EQ(types(graph), "Conv Mul");
}

}  // namespace
}  // namespace vellum::test

// Decomposed operators compute the same as their host reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

// A model of one node with inputs x0, x1, ... of `shapes`.
OnnxModel one_node(const std::string& type, const std::vector<Shape>& shapes, const Attributes& with = {},
                   DType dtype = DType::f32) {
  OnnxModel model(17);
  std::vector<std::string> names;
  for (const Shape& shape : shapes) {
    names.push_back("x" + std::to_string(names.size()));
    model.input(names.back(), shape, dtype);
  }
  model.node(type, names, {"y"}, with).output("y");
  return model;
}

void expect_spelt_out(const std::string& type, const OnnxModel& model, const std::string& expected) {
  EXPECT_EQ(types(after(decompose, model)), expected) << type;
}

TEST(Decompose, NormalizationsWithKnownScalesStay) {
  OnnxModel model;
  const HostTensor factors = HostTensor::f32({3}, std::vector<float>{1, 2, 3});
  model.input("x", {2, 3, 4}).initializer("s", factors);
  model.node("InstanceNormalization", {"x", "s", "s"}, {"y"}).output("y");
  expect_spelt_out("InstanceNormalization", model, "InstanceNormalization");
}

TEST(Decompose, NormalizationsWithComputedScales) {
  expect_spelt_out("BatchNormalization", one_node("InstanceNormalization", {{2, 3, 4, 5}, {3}, {3}}),
                   "InstanceNormalization Reshape Mul Reshape Add");
  expect_spelt_out("LayerNormalization", one_node("LayerNormalization", {{2, 3, 4}, {4}, {4}}),
                   "LayerNormalization Mul Add");
}

TEST(Decompose, MeanVarianceNormalization) {
  for (const Ints& axes : {Ints{0, 2, 3}, Ints{1}, Ints{-1, 0}, Ints{0, 1, 2, 3}})
    expect_spelt_out("MeanVarianceNormalization",
                     one_node("MeanVarianceNormalization", {{2, 3, 4, 5}}, attributes({{"axes", axes}})),
                     "Transpose LayerNormalization Transpose");
}

TEST(Decompose, LpNormalizationKeepsRowsOfZeros) {
  for (const int64_t p : {1, 2}) {
    OnnxModel model(17);
    model.input("x", {2, 3, 4}).initializer("m", HostTensor::f32({3, 1}, std::vector<float>{1, 0, 1}));
    model.node("Mul", {"x", "m"}, {"z"});
    model.node("LpNormalization", {"z"}, {"y"}, attributes({{"axis", int64_t{2}}, {"p", p}})).output("y");
    const std::string norm = p == 1 ? "ReduceL1" : "ReduceL2";
    expect_spelt_out("LpNormalization", model, "Mul " + norm + " Equal Where Div");
  }
}

// A product with a matrix of mostly zeros is quick where the matrix is small.
TEST(Decompose, ResizeThatAveragesALargeAxisStays) {
  for (const int64_t height : {16, 16384}) {
    OnnxModel model(19);
    model.input("x", {1, 1, height, 2}).initializer("none", HostTensor::f32({0}, std::vector<float>{}));
    model.initializer("sizes", HostTensor::i64({4}, std::vector<int64_t>{1, 1, height / 4, 1}));
    model.node("Resize", {"x", "none", "none", "sizes"}, {"y"},
               attributes({{"mode", std::string("linear")}, {"antialias", int64_t{1}}}));
    const Graph graph = optimise(model.output("y").graph(), {});
    const bool has_matrices =
        std::ranges::none_of(graph.nodes, [](const Node& node) { return node.op->type() == "Resize"; });
    EXPECT_EQ(has_matrices, height == 16) << to_text(graph);
  }
}

TEST(Decompose, HardmaxOfEveryAxis) {
  for (const int64_t axis : {0, 1, -1})
    expect_spelt_out("Hardmax", one_node("Hardmax", {{2, 3, 4}}, attributes({{"axis", axis}})),
                     "Reshape ArgMax OneHot Reshape");
}

TEST(Decompose, TheMaskOfDropoutIsKnown) {
  OnnxModel model(17);
  model.input("x", {2, 3}).node("Dropout", {"x"}, {"y", "mask"}).output("y").output("mask");
  expect_spelt_out("Dropout", model, "Identity");
}

TEST(Decompose, MatrixProductsOfEinsum) {
  const auto einsum = [](const char* equation, const std::vector<Shape>& shapes) {
    return one_node("Einsum", shapes, attributes({{"equation", std::string(equation)}}));
  };
  const std::string product = "Transpose Reshape Transpose Reshape MatMul Reshape Transpose";
  for (const auto& [equation, a, b] :
       std::vector<std::tuple<const char*, Shape, Shape>>{{"ij,jk->ik", {2, 3}, {3, 4}},
                                                          {"bhid,bhjd->bhij", {2, 2, 3, 4}, {2, 2, 5, 4}},
                                                          {"bcij,kcb->kji", {2, 3, 4, 5}, {6, 3, 2}},
                                                          {"i,j->ij", {3}, {4}},
                                                          {"...ij,...jk", {2, 3, 4}, {2, 4, 5}},
                                                          {"i,i", {5}, {5}}})
    expect_spelt_out(equation, einsum(equation, {a, b}), product);
  // Labels that one tensor sums up alone or repeats, and dimensions that broadcast.
  for (const auto& [equation, a, b] : std::vector<std::tuple<const char*, Shape, Shape>>{
           {"ij,k->k", {2, 3}, {3}}, {"ii,ij->j", {3, 3}, {3, 4}}, {"ij,jk->ik", {2, 1}, {3, 4}}})
    expect_spelt_out(equation, einsum(equation, {a, b}), "Einsum");
}

TEST(Decompose, EinsumsOfThreeTensorsAndFactors) {
  const auto types_of = [](const char* equation, const std::vector<Shape>& shapes) {
    return types(
        after(decompose, one_node("Einsum", shapes, attributes({{"equation", std::string(equation)}}))));
  };
  const std::string scaling = "Transpose Transpose Reshape Mul";
  const std::string product = "Transpose Reshape Transpose Reshape MatMul Reshape";
  EXPECT_EQ(types_of("nlhv,nlh->nlhv", {{2, 3, 4, 5}, {2, 3, 4}}), scaling + " Transpose");
  EXPECT_EQ(types_of("nl,nlv->vnl", {{2, 3}, {2, 3, 5}}), scaling + " Transpose");
  EXPECT_EQ(types_of("nlhd,nhdv,nlh->nlhv", {{2, 3, 4, 5}, {2, 4, 5, 6}, {2, 3, 4}}).find("Einsum"),
            std::string::npos);
  EXPECT_EQ(types_of("ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 5}}), product + " " + product + " Transpose");
  EXPECT_EQ(types_of("ij,jk,kl,lm->im", {{2, 9}, {9, 2}, {2, 9}, {9, 2}}),
            product + " " + product + " " + product + " Transpose");
  EXPECT_EQ(types_of("ij,jk,l->ik", {{2, 3}, {3, 4}, {5}}), "Einsum");
}

TEST(Decompose, ResizeOfVolumesIsOneOfPicturesAndOneOfDepth) {
  const auto resize = [](const Attributes& with, std::vector<float> scales, std::vector<int64_t> sizes) {
    OnnxModel model(13);
    model.input("x", {2, 3, 4, 5, 3});
    std::vector<std::string> inputs{"x", ""};
    if (!scales.empty()) {
      model.initializer("scales", HostTensor::f32({5}, scales));
      inputs.push_back("scales");
    } else {
      model.initializer("sizes", HostTensor::i64({5}, sizes));
      inputs.insert(inputs.end(), {"", "sizes"});
    }
    model.node("Resize", inputs, {"y"}, with).output("y");
    return model;
  };
  const auto mode = [](const std::string& name, const std::string& coordinates) {
    return attributes({{"mode", name}, {"coordinate_transformation_mode", coordinates}});
  };
  const std::string both = "Reshape Resize Reshape Resize Reshape";
  expect_spelt_out("Resize", resize(mode("linear", "half_pixel"), {1, 1, 2, 2, 2}, {}), both);
  expect_spelt_out("Resize", resize(mode("linear", "align_corners"), {}, {2, 3, 7, 4, 5}), both);
  expect_spelt_out("Resize", resize(mode("nearest", "asymmetric"), {1, 1, 1.6f, 1.3f, 0.7f}, {}), both);
  expect_spelt_out("Resize", resize(mode("cubic", "pytorch_half_pixel"), {}, {2, 3, 9, 5, 3}),
                   "Reshape Resize Reshape");
  expect_spelt_out("Resize", resize(mode("linear", "half_pixel"), {1, 1, 1, 2, 2}, {}),
                   "Reshape Resize Reshape");
  expect_spelt_out("Resize", resize(mode("linear", "half_pixel"), {1, 2, 1, 2, 2}, {}), "Resize");
}

// Kernels compute these of floats, which represent all integers of up to 16 bits.
TEST(Decompose, NarrowIntegersAreChosenAsFloats) {
  const auto spelt_out = [](const std::string& type, int64_t onnx_type, const Attributes& given,
                            std::vector<std::string> inputs = {"q"}) {
    OnnxModel model(13);
    model.input("x", {1, 4, 6, 4}).node("Cast", {"x"}, {"q"}, attributes({{"to", onnx_type}}));
    model.initializer("scales", HostTensor::f32({4}, std::vector<float>{1, 1, 1.5f, 2}));
    model.node(type, inputs, {"y"}, given).output("y");
    return types(after(decompose, model)).substr(5);  // without the Cast of x
  };
  constexpr int64_t kUint8 = 2, kInt8 = 3, kInt32 = 6;
  const Attributes blocks = attributes({{"blocksize", int64_t{2}}});
  const Attributes linear = attributes({{"mode", std::string("linear")}});
  for (const int64_t dtype : {kUint8, kInt8}) {
    EXPECT_EQ(spelt_out("ArgMax", dtype, attributes({{"axis", int64_t{1}}})), "Cast ArgMax");
    EXPECT_EQ(spelt_out("ReduceMax", dtype, {}), "Cast ReduceMax CastLike");
    EXPECT_EQ(spelt_out("DepthToSpace", dtype, blocks), "Cast DepthToSpace CastLike");
    EXPECT_EQ(spelt_out("SpaceToDepth", dtype, blocks), "Cast SpaceToDepth CastLike");
    EXPECT_EQ(spelt_out("Resize", dtype, {}, {"q", "", "scales"}), "Cast Resize CastLike");
    EXPECT_EQ(spelt_out("Resize", dtype, linear, {"q", "", "scales"}), "Cast Resize CastLike");
  }
  EXPECT_EQ(spelt_out("DepthToSpace", kInt32, blocks), "DepthToSpace") << "wider than floats";
  EXPECT_EQ(spelt_out("Resize", kInt8, attributes({{"mode", std::string("cubic")}}), {"q", "", "scales"}),
            "Resize")
      << "may leave the range";
}

}  // namespace
}  // namespace vellum::test

// Layers of what DynamicQuantizeLinear makes of floats become ScaledConv, with the same results.
#include <gtest/gtest.h>

#include <algorithm>

#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

using Words = std::vector<std::string>;

HostTensor bytes(const Shape& shape, uint32_t seed, float low = 0.0f) {
  return cast(random_tensor(shape, seed, low, low + 255.0f), low < 0.0f ? DType::i8 : DType::u8);
}

OnnxModel quantised(const Shape& x, const Shape& w, const Shape& scales, const Shape& bias,
                    float low = 0.0f) {
  OnnxModel model;
  model.input("x", x)
      .initializer("w", bytes(w, 1, low))
      .initializer("wz",
                   cast(HostTensor::f32({}, std::array{low + 100.0f}), low < 0.0f ? DType::i8 : DType::u8))
      .initializer("ws", random_tensor(scales, 2, 0.01f, 0.02f))
      .initializer("b", random_tensor(bias, 3));
  model.node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"});
  return model;
}

// The sums `sums` times both scales, plus the bias.
OnnxModel& scale(OnnxModel& model) {
  return model.node("Cast", {"sums"}, {"floats"}, attributes({{"to", int64_t{1}}}))
      .node("Mul", {"s", "ws"}, {"scales"})
      .node("Mul", {"floats", "scales"}, {"product"})
      .node("Add", {"product", "b"}, {"y"})
      .output("y");
}

TEST(FuseDynamicQuantization, AConvolution) {
  for (const Shape& per_channel : {Shape{1}, Shape{6, 1, 1}})
    for (const float low : {0.0f, -128.0f}) {
      OnnxModel model = quantised({1, 4, 7, 5}, {6, 4, 3, 3}, per_channel, {1, 6, 1, 1}, low);
      model.node("ConvInteger", {"q", "w", "z", "wz"}, {"sums"},
                 attributes({{"pads", std::vector<int64_t>(4, 1)}}));
      EXPECT_EQ(types(after(fuse_dynamic_quantization, scale(model))), "DynamicSteps ScaledConv");
    }
}

TEST(FuseDynamicQuantization, AProductOfTokens) {
  for (const Shape& x : {Shape{7, 12}, Shape{2, 7, 12}}) {
    OnnxModel model = quantised(x, {12, 6}, {6}, {6});
    model.node("MatMulInteger", {"q", "w", "z", "wz"}, {"sums"});
    const std::string expected =
        x.size() == 2 ? "DynamicSteps ScaledConv" : "Reshape DynamicSteps ScaledConv Reshape";
    EXPECT_EQ(types(after(fuse_dynamic_quantization, scale(model))), expected);
  }
}

TEST(FuseDynamicQuantization, LayersShareTheSteps) {
  OnnxModel model = quantised({1, 4, 7, 5}, {6, 4, 1, 1}, {1}, {1, 6, 1, 1});
  for (const std::string layer : {"1", "2"})
    model.node("ConvInteger", {"q", "w", "z", "wz"}, {"sums" + layer})
        .node("Cast", {"sums" + layer}, {"floats" + layer}, attributes({{"to", int64_t{1}}}))
        .node("Mul", {"floats" + layer, "s"}, {"y" + layer})
        .output("y" + layer);
  EXPECT_EQ(types(after(fuse_dynamic_quantization, model)), "DynamicSteps ScaledConv ScaledConv");
}

TEST(FuseDynamicQuantization, OperatorsOfOnnxRuntime) {
  OnnxModel model = quantised({3, 7, 12}, {12, 6}, {6}, {6});
  model.node("com.microsoft.DynamicQuantizeMatMul", {"x", "w", "ws", "wz", "b"}, {"y"}).output("y");
  const auto both = [](Graph& graph) {
    decompose(graph);
    fuse_dynamic_quantization(graph);
    remove_identities(graph);
  };
  EXPECT_EQ(types(after(both, model)), "Reshape DynamicSteps ScaledConv Reshape");
}

// The form of ONNX Runtime 1.4: the bias is divided by both scales, rounded down, and added to the integers.
OnnxModel with_whole_bias(const Shape& per_channel, const char* bias_scale) {
  OnnxModel model = quantised({1, 4, 7, 5}, {6, 4, 3, 3}, per_channel, {6});
  model.initializer("shape", HostTensor::i64({4}, std::vector<int64_t>{1, 6, 1, 1}));
  model.initializer("flat", random_tensor({per_channel[0]}, 2, 0.01f, 0.02f));
  model.initializer("other", random_tensor({per_channel[0]}, 4, 0.01f, 0.02f));
  model.node("ConvInteger", {"q", "w", "z", "wz"}, {"sums"});
  model.node("Mul", {"s", bias_scale}, {"bs"}).node("Div", {"b", "bs"}, {"bq"}).node("Floor", {"bq"}, {"bf"});
  model.node("Cast", {"bf"}, {"bi"}, attributes({{"to", int64_t{6}}}));
  model.node("Reshape", {"bi", "shape"}, {"br"}).node("Add", {"sums", "br"}, {"whole"});
  model.node("Cast", {"whole"}, {"floats"}, attributes({{"to", int64_t{1}}}))
      .node("Mul", {"s", "ws"}, {"scales"});
  model.node("Mul", {"floats", "scales"}, {"y"}).output("y");
  return model;
}

TEST(FuseDynamicQuantization, ABiasInSteps) {
  for (const Shape& per_channel : {Shape{1}, Shape{6, 1, 1}}) {
    EXPECT_EQ(types(after(fuse_dynamic_quantization, with_whole_bias(per_channel, "flat"))),
              "DynamicSteps ScaledConv");
    const std::string other = types(after(fuse_dynamic_quantization, with_whole_bias(per_channel, "other")));
    EXPECT_NE(other.find("ConvInteger"), other.npos) << "in steps of another scale";
  }
}

// What is read elsewhere, weights that do not fit in bytes, and scales that are computed stay as they are.
TEST(FuseDynamicQuantization, NotOtherForms) {
  OnnxModel read_twice = quantised({7, 12}, {12, 6}, {6}, {6});
  read_twice.node("MatMulInteger", {"q", "w", "z", "wz"}, {"sums"});
  scale(read_twice).output("sums");
  EXPECT_EQ(types(after(fuse_dynamic_quantization, read_twice)).find("ScaledConv"), std::string::npos);
  OnnxModel without_zero = quantised({7, 12}, {12, 6}, {6}, {6});
  without_zero.node("MatMulInteger", {"q", "w"}, {"sums"});
  EXPECT_EQ(types(after(fuse_dynamic_quantization, scale(without_zero))).find("ScaledConv"),
            std::string::npos);
  OnnxModel of_rows = quantised({6, 12}, {12, 6}, {6, 1}, {6});
  of_rows.node("MatMulInteger", {"q", "w", "z", "wz"}, {"sums"});
  EXPECT_EQ(types(after(fuse_dynamic_quantization, scale(of_rows))).find("ScaledConv"), std::string::npos);
}

}  // namespace
}  // namespace vellum::test

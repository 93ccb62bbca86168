// Elementwise functions of one rounded tensor, with roundings between, become tables.
#include <gtest/gtest.h>

#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

HostTensor scalar(float value) { return HostTensor::f32({}, std::array{value}); }

// A model on x, rounded as "r".
OnnxModel rounded_input() {
  OnnxModel model;
  model.input("x", {2, 3, 5})
      .initializer("s", scalar(0.03125f))
      .initializer("z", HostTensor::from<int64_t>(DType::u8, {}, std::array{int64_t{120}}))
      .initializer("one", HostTensor::f32({1}, std::array{1.0f}))
      .initializer("half", scalar(0.5f));
  return model;
}

OnnxModel& round(OnnxModel& model, const std::string& from, const std::string& to) {
  model.node("QuantizeLinear", {from, "s", "z"}, {to + "_q"});
  return model.node("DequantizeLinear", {to + "_q", "s", "z"}, {to});
}

// r * (erf(r) + 1) / 2, each result rounded, as quantisers write it.
OnnxModel gelu() {
  OnnxModel model = rounded_input();
  round(model, "x", "r").node("Erf", {"r"}, {"e"});
  round(model, "e", "er").node("Add", {"er", "one"}, {"a"});
  round(model, "a", "ar").node("Mul", {"r", "ar"}, {"m"});
  round(model, "m", "mr").node("Mul", {"mr", "half"}, {"h"});
  round(model, "h", "hr");
  return model;
}

TEST(ByteFunctions, GeluWithRoundings) {
  OnnxModel model = gelu();
  model.node("Neg", {"hr"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_quantization, model)), "FakeQuantize ByteTable Neg");
}

// x * sigmoid(x) reads the rounded tensor through a Reshape.
TEST(ByteFunctions, SiluOfWhatMovesElements) {
  OnnxModel model = rounded_input();
  model.initializer("shape", HostTensor::i64({2}, std::array{int64_t{6}, int64_t{5}}));
  round(model, "x", "r").node("Reshape", {"r", "shape"}, {"v"}).node("Sigmoid", {"v"}, {"g"});
  model.node("Mul", {"g", "v"}, {"m"});
  round(model, "m", "y").output("y");
  EXPECT_EQ(types(after(fuse_quantization, model)), "FakeQuantize Reshape ByteTable Identity");
}

// A single function: the layer before it looks its results up as it stores them.
TEST(ByteFunctions, OneFunction) {
  for (const char* type : {"Erf", "HardSigmoid", "Sqrt"}) {
    OnnxModel model = rounded_input();
    if (type == std::string("Sqrt"))
      model.initializer("z0", HostTensor::from<int64_t>(DType::u8, {}, std::array{int64_t{0}}));
    const char* zero = type == std::string("Sqrt") ? "z0" : "z";
    model.node("QuantizeLinear", {"x", "s", zero}, {"r_q"})
        .node("DequantizeLinear", {"r_q", "s", zero}, {"r"});
    model.node(type, {"r"}, {"e"});
    round(model, "e", "y").output("y");
    EXPECT_EQ(types(after(fuse_quantization, model)), "FakeQuantize ByteTable Identity") << type;
  }
}

// Tensors that another operator reads stay, and so do a single operator that bounds or multiplies elements,
// constants for each channel, sums of two tensors and functions of tensors that are not rounded.
TEST(ByteFunctions, NotOtherForms) {
  OnnxModel read_elsewhere = gelu();
  read_elsewhere.node("Neg", {"e"}, {"n"}).output("hr").output("n");
  EXPECT_EQ(types(after(fuse_quantization, read_elsewhere)).find("ByteTable"), std::string::npos);
  OnnxModel bounds = rounded_input();
  round(bounds, "x", "r").node("Relu", {"r"}, {"e"});
  round(bounds, "e", "y").output("y");
  EXPECT_EQ(types(after(fuse_quantization, bounds)), "FakeQuantize Relu FakeQuantize Identity");
  OnnxModel product = rounded_input();
  round(product, "x", "r").node("Mul", {"r", "half"}, {"e"});
  round(product, "e", "y").output("y");
  EXPECT_EQ(types(after(fuse_quantization, product)), "FakeQuantize Mul FakeQuantize Identity");
  OnnxModel channels = rounded_input();
  channels.initializer("c", random_tensor({3, 1}, 1));
  round(channels, "x", "r").node("Erf", {"r"}, {"e"}).node("Mul", {"e", "c"}, {"m"});
  round(channels, "m", "y").output("y");
  EXPECT_EQ(types(after(fuse_quantization, channels)).find("ByteTable"), std::string::npos);
  OnnxModel two = rounded_input();
  two.input("w", {2, 3, 5});
  round(two, "x", "r");
  round(two, "w", "v").node("Sigmoid", {"v"}, {"g"}).node("Mul", {"g", "r"}, {"m"});
  round(two, "m", "y").output("y");
  EXPECT_EQ(types(after(fuse_quantization, two)).find("ByteTable"), std::string::npos);
  OnnxModel floats = rounded_input();
  floats.node("Erf", {"x"}, {"e"}).node("Mul", {"e", "half"}, {"m"});
  round(floats, "m", "y").output("y");
  EXPECT_EQ(types(after(fuse_quantization, floats)).find("ByteTable"), std::string::npos);
}

}  // namespace
}  // namespace vellum::test

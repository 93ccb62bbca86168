// Pairs of QuantizeLinear and DequantizeLinear become roundings of floats, which what computes them takes as
// part of its activation.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

using Words = std::vector<std::string>;

HostTensor zero_point(int64_t value, DType dtype = DType::u8) {
  return HostTensor::from<int64_t>(dtype, {}, std::array{value});
}
HostTensor scale_of(float value) { return HostTensor::f32({}, std::array{value}); }

// A model on x with the constants that quantisations need.
OnnxModel quantised(const Shape& x = {1, 4, 5, 6}) {
  OnnxModel model;
  model.input("x", x)
      .initializer("s", scale_of(0.125f))
      .initializer("t", scale_of(0.25f))
      .initializer("z", zero_point(3));
  model.initializer("wide", zero_point(-7, DType::i8));
  return model;
}

void round_trip(OnnxModel& model, const std::string& from, const std::string& to,
                const std::string& scale = "s", const std::string& zero = "z") {
  model.node("QuantizeLinear", {from, scale, zero}, {to + "_q"});
  model.node("DequantizeLinear", {to + "_q", scale, zero}, {to});
}

void fuse_with_activations(Graph& graph) {
  fuse_quantization(graph);
  fuse_activations(graph);
}

const Activation& activation_of(const Graph& graph, size_t node) {
  if (const auto* conv = dynamic_cast<const Conv*>(graph.nodes[node].op.get())) return conv->activation;
  return dynamic_cast<const Unary&>(*graph.nodes[node].op).activation;
}

TEST(FuseQuantization, APairIsARounding) {
  OnnxModel model = quantised();
  round_trip(model, "x", "y");
  model.node("Neg", {"y"}, {"n"}).output("n");
  const Graph graph = after(fuse_quantization, model);
  ASSERT_EQ(types(graph), "FakeQuantize Neg");
  EXPECT_EQ(activation_of(graph, 0), (Activation{.step = 0.125f, .least = -3, .most = 252}));
}

TEST(FuseQuantization, AConvolutionTakesRoundingsAndBounds) {
  for (const char* function : {"", "Relu", "Clip", "Sigmoid"}) {
    OnnxModel model = quantised();
    model.initializer("w", random_tensor({3, 4, 3, 3}, 1));
    model.initializer("low", scale_of(0.0f)).initializer("high", scale_of(1.3f));
    model.node("Conv", {"x", "w"}, {"c"});
    const bool clips = function == std::string("Clip"), acts = *function != '\0';
    if (acts) model.node(function, clips ? Words{"c", "low", "high"} : Words{"c"}, {"a"});
    round_trip(model, acts ? "a" : "c", "y", "s", "wide");
    model.output("y");
    const Graph graph = after(fuse_with_activations, model);
    ASSERT_EQ(graph.nodes[0].op->type(), "Conv") << function;
    Activation want{.step = 0.125f, .least = -121, .most = 134};
    if (acts) want.least = 0;
    if (clips) want.most = 10;
    if (function == std::string("Sigmoid"))
      want = {.kind = ActivationKind::sigmoid, .step = 0.125f, .least = -121, .most = 134};
    EXPECT_EQ(activation_of(graph, 0), want) << function;
  }
}

TEST(FuseQuantization, SeveralReadersShareARounding) {
  OnnxModel model = quantised();
  round_trip(model, "x", "a");
  model.node("DequantizeLinear", {"a_q", "s", "z"}, {"b"});
  model.node("Mul", {"a", "b"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_quantization, model)), "FakeQuantize Mul");
}

TEST(FuseQuantization, IntegersThatAreReadStay) {
  OnnxModel model = quantised();
  round_trip(model, "x", "a");
  model.node("Neg", {"a"}, {"y"}).output("y").output("a_q");
  EXPECT_EQ(types(after(fuse_quantization, model)), "FakeQuantize QuantizeLinear Neg");
}

TEST(FuseQuantization, LooksThroughWhatMovesIntegers) {
  OnnxModel model = quantised();
  model.initializer("shape", HostTensor::i64({2}, std::vector<int64_t>{4, 30}));
  model.node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  model.node("Reshape", {"q", "shape"}, {"r"}).node("Transpose", {"r"}, {"t_q"});
  model.node("DequantizeLinear", {"t_q", "s", "z"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_quantization, model)), "FakeQuantize Reshape Transpose");
}

TEST(FuseQuantization, LooksThroughPoolsAndResizesOfIntegers) {
  const auto fused = [](const std::string& type, const std::vector<std::string>& inputs,
                        const Attributes& given) {
    OnnxModel model = quantised();
    model.initializer("scales", HostTensor::f32({4}, std::vector<float>{1, 1, 2, 2}));
    model.node("QuantizeLinear", {"x", "s", "z"}, {"q"}).node(type, inputs, {"p"}, given);
    model.node("DequantizeLinear", {"p", "s", "z"}, {"y"}).output("y");
    const auto run = [](Graph& graph) {
      decompose(graph);
      fuse_quantization(graph);
    };
    return types(after(run, model));
  };
  EXPECT_EQ(fused("MaxPool", {"q"}, attributes({{"kernel_shape", std::vector<int64_t>{2, 2}}})),
            "FakeQuantize MaxPool");
  EXPECT_EQ(fused("Resize", {"q", "", "scales"}, {}), "FakeQuantize Resize");
  EXPECT_EQ(fused("Resize", {"q", "", "scales"}, attributes({{"mode", std::string("linear")}})),
            "QuantizeLinear Cast Resize CastLike DequantizeLinear")
      << "rounds towards zero";
}

TEST(FuseQuantization, CastsThatMayWrapStay) {
  OnnxModel model = quantised();
  model.node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  model.node("Cast", {"q"}, {"real"}, attributes({{"to", int64_t{1}}}));
  model.node("MaxPool", {"real"}, {"p"}, attributes({{"kernel_shape", std::vector<int64_t>{2, 2}}}));
  model.node("Cast", {"p"}, {"p_q"}, attributes({{"to", int64_t{3}}}));  // to int8
  model.initializer("three", zero_point(3, DType::i8));
  model.node("DequantizeLinear", {"p_q", "s", "three"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_quantization, model)), "QuantizeLinear Cast MaxPool Cast DequantizeLinear");
}

TEST(FuseQuantization, WhatIsRoundedAlreadyStays) {
  OnnxModel model = quantised();
  round_trip(model, "x", "a");
  model.node("MaxPool", {"a"}, {"p"}, attributes({{"kernel_shape", std::vector<int64_t>{2, 2}}}));
  round_trip(model, "p", "b");
  model.node("Concat", {"b", "b"}, {"c"}, attributes({{"axis", int64_t{1}}}));
  round_trip(model, "c", "d");
  model.node("Neg", {"d"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_quantization, model)), "FakeQuantize MaxPool Concat Neg");
}

TEST(FuseQuantization, OtherGridsAreRoundedAnew) {
  OnnxModel model = quantised();
  round_trip(model, "x", "a");
  round_trip(model, "a", "b", "t");
  model.node("Neg", {"b"}, {"y"}).output("y");
  EXPECT_EQ(types(after(fuse_with_activations, model)), "FakeQuantize FakeQuantize Neg");
}

// Two layers on grids of their own, whose concatenation with `others` has a grid: `joined` is the scale of
// it.
OnnxModel two_joined(const char* function, const std::string& joined, const Words& others = {}) {
  OnnxModel model = quantised();
  for (const std::string layer : {"a", "b"}) {
    model.initializer(layer + "_w", random_tensor({3, 4, 3, 3}, layer == "a" ? 1 : 2));
    model.node("Conv", {"x", layer + "_w"}, {layer + "_c"},
               attributes({{"pads", Attributes::Ints{1, 1, 1, 1}}}));
    model.node(function, {layer + "_c"}, {layer + "_f"});
    round_trip(model, layer + "_f", layer + "_r", layer == "a" ? "s" : "t");
  }
  Words parts{"a_r", "b_r"};
  parts.insert(parts.end(), others.begin(), others.end());
  model.node("Concat", parts, {"c"}, attributes({{"axis", int64_t{1}}}));
  round_trip(model, "c", "y", joined);
  model.node("Neg", {"y"}, {"n"}).output("n");
  return model;
}

TEST(FuseQuantization, LayersStoreOnTheGridOfTheirConcatenation) {
  // t is the grid of the second layer already.
  EXPECT_EQ(types(after(fuse_with_activations, two_joined("Relu", "t"))), "Conv Conv ByteTable Concat Neg");
  EXPECT_EQ(types(after(fuse_with_activations, two_joined("Sigmoid", "t"))),
            "Conv Conv ByteTable Concat Neg");
  OnnxModel model = two_joined("Relu", "u");
  model.initializer("u", scale_of(0.375f));
  const std::string found = types(after(fuse_with_activations, model));
  EXPECT_EQ(std::ranges::count(found, 'B'), 2) << found;
  EXPECT_EQ(found.find("FakeQuantize"), std::string::npos) << found;
}

TEST(FuseQuantization, ARoundingStaysForTheOtherPartsOfAConcatenation) {
  OnnxModel model = two_joined("Relu", "t", {"x"});
  EXPECT_EQ(types(after(fuse_with_activations, model)), "Conv Conv ByteTable Concat FakeQuantize Neg");
}

// GPUs compute such a layer and what it reads in one kernel, which has no table.
TEST(FuseQuantization, LayersOfPoolsAndDepthwiseLayersHaveNoTable) {
  for (const bool pools : {true, false}) {
    OnnxModel model = quantised();
    model.initializer("d_w", random_tensor({4, 1, 3, 3}, 3));
    const Attributes window = attributes({{"kernel_shape", Attributes::Ints{3, 3}},
                                          {"pads", Attributes::Ints{1, 1, 1, 1}},
                                          {"group", int64_t{4}}});
    if (pools)
      model.node("MaxPool", {"x"}, {"d"}, attributes({{"kernel_shape", Attributes::Ints{1, 1}}}));
    else
      model.node("Conv", {"x", "d_w"}, {"d"}, window);
    for (const std::string layer : {"a", "b"}) {
      model.initializer(layer + "_w", random_tensor({3, 4, 1, 1}, layer == "a" ? 1 : 2));
      model.node("Conv", {layer == "a" ? "d" : "x", layer + "_w"}, {layer + "_c"});
      round_trip(model, layer + "_c", layer + "_r", layer == "a" ? "s" : "t");
    }
    model.node("Concat", {"a_r", "b_r"}, {"c"}, attributes({{"axis", int64_t{1}}}));
    round_trip(model, "c", "y", "t");
    model.node("Neg", {"y"}, {"n"}).output("n");
    EXPECT_EQ(types(after(fuse_with_activations, model)),
              std::string(pools ? "MaxPool" : "Conv") + " Conv Conv Concat FakeQuantize Neg");
  }
}

TEST(FuseQuantization, OtherConcatenationsAreRounded) {
  OnnxModel read_twice = two_joined("Relu", "t");
  read_twice.node("Neg", {"a_r"}, {"m"}).output("m");
  EXPECT_EQ(types(after(fuse_with_activations, read_twice)), "Conv Conv Concat FakeQuantize Neg Neg");
  OnnxModel no_layer = quantised();
  no_layer.input("v", {1, 4, 5, 6});
  round_trip(no_layer, "x", "a", "s");
  round_trip(no_layer, "v", "b", "t");
  no_layer.node("Concat", {"a", "b"}, {"c"}, attributes({{"axis", int64_t{1}}}));
  round_trip(no_layer, "c", "y", "t");
  no_layer.node("Neg", {"y"}, {"n"}).output("n");
  EXPECT_EQ(types(after(fuse_quantization, no_layer)), "FakeQuantize FakeQuantize Concat FakeQuantize Neg");
}

TEST(FuseQuantization, WhatIsNoPairStays) {
  OnnxModel scales = quantised();
  scales.node("QuantizeLinear", {"x", "s", "z"}, {"q"})
      .node("DequantizeLinear", {"q", "t", "z"}, {"y"})
      .output("y");
  EXPECT_EQ(types(after(fuse_quantization, scales)), "QuantizeLinear DequantizeLinear");
  OnnxModel channels = quantised();
  channels.initializer("each", HostTensor::f32({4}, std::vector<float>{0.5f, 0.25f, 1, 2}));
  channels.node("QuantizeLinear", {"x", "each"}, {"q"})
      .node("DequantizeLinear", {"q", "each"}, {"y"})
      .output("y");
  EXPECT_EQ(types(after(fuse_quantization, channels)), "QuantizeLinear DequantizeLinear");
  OnnxModel computed = quantised();
  computed.input("scale", {});
  computed.node("QuantizeLinear", {"x", "scale"}, {"q"})
      .node("DequantizeLinear", {"q", "scale"}, {"y"})
      .output("y");
  EXPECT_EQ(types(after(fuse_quantization, computed)), "QuantizeLinear DequantizeLinear");
}

// As hostile files have them: the search for a quantisation ends.
TEST(FuseQuantization, LongChainsOfIntegersStay) {
  OnnxModel model = quantised({4, 6});
  model.node("QuantizeLinear", {"x", "s", "z"}, {"q0"});
  for (int i = 0; i < 40; ++i)
    model.node("Transpose", {"q" + std::to_string(i)}, {"q" + std::to_string(i + 1)});
  model.node("DequantizeLinear", {"q40", "s", "z"}, {"y"}).output("y");
  EXPECT_EQ(after(fuse_quantization, model).nodes.size(), 42u);
}

// A bias that is added after the sums were rounded is a residual, not the bias of the product.
TEST(FuseQuantization, AProductAddsABiasToItsRoundedSums) {
  for (const auto& [is_row, product] : {std::pair{true, "Gemm"}, {false, "Gemm"}, {true, "MatMul"}}) {
    OnnxModel model = quantised({5, 6});
    model.initializer("w", random_tensor({6, 4}, 1));
    model.initializer("bias", random_tensor(is_row ? Shape{4} : Shape{5, 1}, 2));
    model.node(product, {"x", "w"}, {"product"});
    round_trip(model, "product", "rounded");
    model.node("Add", {"rounded", "bias"}, {"sum"});
    round_trip(model, "sum", "y", "t", "wide");
    model.output("y");
    const auto run = [](Graph& graph) {
      fuse_quantization(graph);
      remove_identities(graph);
      matmul_to_gemm(graph);
      fuse_residual(graph);
      fuse_activations(graph);
    };
    const Graph graph = after(run, model);
    EXPECT_EQ(types(graph), is_row ? "Gemm" : "Gemm Add");
    if (!is_row) continue;
    const auto& gemm = dynamic_cast<const Gemm&>(*graph.nodes[0].op);
    EXPECT_EQ(gemm.activation.sum_step, 0.125f);
    EXPECT_EQ(gemm.activation.step, 0.25f);
    EXPECT_EQ(graph.constant(graph.nodes[0].inputs.at(3))->shape(), (Shape{1, 4}));
  }
}

}  // namespace
}  // namespace vellum::test

// Graphs written as ONNX files and read again compute the same.
#include "quantize/write_onnx.hpp"

#include <gtest/gtest.h>

#include "import/import.hpp"
#include "passes/passes.hpp"
#include "quantize/insert.hpp"
#include "quantize/layers.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::quantization {
namespace {

using test::as_bytes;
using test::attributes;
using test::close;
using test::OnnxModel;
using test::random_tensor;
using Ints = Attributes::Ints;

HostTensor list(const Ints& values) { return HostTensor::i64({static_cast<int64_t>(values.size())}, values); }

void expect_same(const OnnxModel& model, double tolerance = 1e-5) {
  const Graph graph = float_graph(model.graph(), {});
  const Graph again = optimise(import_model(as_bytes(write_onnx(graph))), {});
  std::vector<HostTensor> inputs;
  uint32_t seed = 1;
  for (const ValueId id : graph.inputs) inputs.push_back(random_tensor(graph.values[id].type.shape, seed++));
  const auto expected = evaluate(optimise(model.graph(), {}), inputs), got = evaluate(again, inputs);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(close(got[i], expected[i], tolerance)) << i;
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    EXPECT_EQ(again.values[again.outputs[i]].name, graph.values[graph.outputs[i]].name);
}

// One chain of nodes "x" -> "a" -> "b" ... of which each has an output.
class Chain {
 public:
  explicit Chain(const Shape& shape, int opset = 17) : model_(opset) { model_.input("x", shape); }
  Chain& add(const std::string& type, const Attributes& values = {},
             const std::vector<HostTensor>& constants = {}) {
    std::vector<std::string> inputs{at_};
    for (const HostTensor& constant : constants) {
      inputs.push_back("c" + std::to_string(count_++));
      model_.initializer(inputs.back(), constant);
    }
    at_ = "v" + std::to_string(count_++);
    model_.node(type, inputs, {at_}, values);
    model_.output(at_);
    return *this;
  }
  const OnnxModel& model() const { return model_; }

 private:
  OnnxModel model_;
  std::string at_ = "x";
  int count_ = 0;
};

TEST(WriteOnnx, LayersOfPictures) {
  expect_same(
      Chain({1, 4, 8, 6})
          .add("Conv", attributes({{"pads", Ints(4, 1)}, {"strides", Ints{2, 1}}, {"group", int64_t{2}}}),
               {random_tensor({6, 2, 3, 3}, 1), random_tensor({6}, 2)})
          .add("Clip", {}, {HostTensor::f32({}, std::array{0.0f}), HostTensor::f32({}, std::array{1.5f})})
          .add("ConvTranspose", attributes({{"strides", Ints{2, 2}}, {"output_padding", Ints{1, 0}}}),
               {random_tensor({6, 3, 2, 2}, 3)})
          .add("PRelu", {}, {random_tensor({3, 1, 1}, 4)})
          .add("MaxPool", attributes({{"kernel_shape", Ints{2, 2}}, {"ceil_mode", int64_t{1}}}))
          .add("AveragePool", attributes({{"kernel_shape", Ints{2, 2}}, {"pads", Ints(4, 1)}}))
          .add("Pad", attributes({{"mode", std::string("reflect")}}), {list({0, 0, 1, 1, 0, 0, 0, 1})})
          .add("GlobalAveragePool")
          .model());
}

TEST(WriteOnnx, ActivationsWithParameters) {
  expect_same(Chain({2, 3, 4})
                  .add("LeakyRelu", attributes({{"alpha", 0.3f}}))
                  .add("Elu", attributes({{"alpha", 0.5f}}))
                  .add("HardSigmoid", attributes({{"alpha", 0.25f}, {"beta", 0.4f}}))
                  .add("HardSwish")
                  .add("Selu", attributes({{"alpha", 1.5f}, {"gamma", 1.1f}}))
                  .add("Softmax", attributes({{"axis", int64_t{1}}}))
                  .model());
  expect_same(Chain({2, 3}, 20)
                  .add("Gelu", attributes({{"approximate", std::string("tanh")}}))
                  .add("Sigmoid")
                  .model());
}

TEST(WriteOnnx, SiluIsTwoNodes) {
  OnnxModel model(17);
  model.input("x", {2, 3}).node("Sigmoid", {"x"}, {"s"}).node("Mul", {"x", "s"}, {"y"}).output("y");
  expect_same(model);
}

TEST(WriteOnnx, ShapesAndSlices) {
  expect_same(Chain({2, 6, 4}, 17)
                  .add("Transpose", attributes({{"perm", Ints{2, 0, 1}}}))
                  .add("Reshape", {}, {list({2, -1, 6})})
                  .add("Slice", {}, {list({1}), list({5}), list({2}), list({2})})
                  .add("Unsqueeze", {}, {list({0})})
                  .add("Squeeze", {}, {list({0})})
                  .add("ReduceMean", attributes({{"axes", Ints{1}}, {"keepdims", int64_t{0}}}))
                  .add("ReduceSum", attributes({{"keepdims", int64_t{1}}}), {list({1})})
                  .add("Expand", {}, {list({2, 3})})
                  .model());
  // The forms of old operator sets, whose parameters are attributes.
  expect_same(Chain({1, 2, 3, 3}, 9)
                  .add("Upsample", attributes({{"mode", std::string("nearest")}}),
                       {HostTensor::f32({4}, std::array{1.0f, 1.0f, 2.0f, 2.0f})})
                  .add("Slice", attributes({{"axes", Ints{2}}, {"starts", Ints{1}}, {"ends", Ints{4}}}))
                  .add("Pad", attributes({{"pads", Ints{0, 0, 0, 1, 0, 0, 0, 1}}, {"value", 2.0f}}))
                  .add("Unsqueeze", attributes({{"axes", Ints{0}}}))
                  .model());
}

TEST(WriteOnnx, SeveralOutputsAndResizes) {
  OnnxModel model(17);
  model.input("x", {1, 4, 3, 3})
      .initializer("parts", list({1, 3}))
      .node("Split", {"x", "parts"}, {"a", "b"}, attributes({{"axis", int64_t{1}}}))
      .initializer("scales", HostTensor::f32({4}, std::array{1.0f, 1.0f, 2.0f, 1.5f}))
      .node("Resize", {"b", "", "scales"}, {"c"}, attributes({{"mode", std::string("linear")}}))
      .initializer("sizes", list({1, 3, 5, 5}))
      .node("Resize", {"b", "", "", "sizes"}, {"d"},
            attributes({{"mode", std::string("nearest")},
                        {"coordinate_transformation_mode", std::string("asymmetric")},
                        {"nearest_mode", std::string("floor")}}))
      .node("Concat", {"a", "x"}, {"e"}, attributes({{"axis", int64_t{1}}}));
  for (const char* output : {"c", "d", "e"}) model.output(output);
  expect_same(model);
}

TEST(WriteOnnx, ProductsAndFoldedNormalisation) {
  expect_same(Chain({3, 4})
                  .add("Gemm", attributes({{"transB", int64_t{1}}, {"alpha", 0.5f}}),
                       {random_tensor({5, 4}, 1), random_tensor({5}, 2)})
                  .add("MatMul", {}, {random_tensor({5, 2}, 3)})
                  .model());
  expect_same(Chain({1, 2, 3, 3})
                  .add("Conv", {}, {random_tensor({3, 2, 1, 1}, 1)})
                  .add("BatchNormalization", {},
                       {random_tensor({3}, 2, 0.5f, 1), random_tensor({3}, 3), random_tensor({3}, 4),
                        random_tensor({3}, 5, 0.5f, 1)})
                  .model());
}

TEST(WriteOnnx, FourBitsArePackedInPairs) {
  OnnxModel model(17);
  model.input("x", {2, 5})
      .initializer("w", random_tensor({5, 3}, 1))
      .node("MatMul", {"x", "w"}, {"y"})
      .output("y");
  std::set<ValueId> four_bits;
  const Graph graph = weights_only_graph(float_graph(model.graph(), {}), 4, four_bits);
  EXPECT_EQ(four_bits.size(), 1u);
  const Graph again = optimise(import_model(as_bytes(write_onnx(graph, four_bits))), {});
  const std::vector<HostTensor> inputs{random_tensor({2, 5}, 2)};
  EXPECT_TRUE(close(evaluate(again, inputs)[0], evaluate(graph, inputs)[0], 1e-6));
}

TEST(WriteOnnx, WhatOnnxDoesNotHaveIsNamed) {
  Graph graph =
      float_graph(Chain({1, 2, 4, 4}).add("Conv", {}, {random_tensor({2, 2, 1, 1}, 1)}).model().graph(), {});
  graph.nodes[0].op = graph.nodes[0].op->with_activation({ActivationKind::relu});
  EXPECT_VELLUM_ERROR(write_onnx(graph), ErrorCode::unsupported, "Conv", "activation");
}

}  // namespace
}  // namespace vellum::quantization

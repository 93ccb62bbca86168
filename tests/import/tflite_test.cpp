// TFLite models: values computed by hand, the order of dimensions, and files that are damaged.
#include <flatbuffers/flexbuffers.h>
#include <gtest/gtest.h>

#include <random>

#include "import/import.hpp"
#include "import/run_tflite.hpp"
#include "passes/passes.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {
namespace {

// The one output of a model, before and after the passes.
HostTensor run_both(const std::string& bytes, const std::vector<HostTensor>& inputs) {
  const Graph imported = import_model(as_bytes(bytes));
  const Graph optimised = optimise(imported, {});
  const HostTensor result = evaluate(optimised, inputs)[0];
  EXPECT_TRUE(close(evaluate(imported, inputs)[0], result, 1e-6));
  return result;
}

// A 1x2x3x2 input, channels fastest.
HostTensor small_image() { return tensor({1, 2, 3, 2}, {1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6}); }

std::string conv_model() {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 2, 3, 2});
  const auto w = m.floats("w", {1, 1, 2, 2}, {1, 0.5f, 10, 2});  // OHWI: left tap, right tap
  const auto b = m.floats("b", {1}, {100});
  const auto y = m.tensor("y", {1, 2, 3, 1});
  m.op(3, {x, w, b}, {y}, tfl::BuiltinOptions::Conv2DOptions,
       tfl::CreateConv2DOptions(m.builder(), tfl::Padding::same, 1, 1, tfl::FusedActivation::relu6).Union());
  return m.finish({x}, {y});
}

TEST(Tflite, ConvReadsItsWeightsAsOhwiAndKeepsTheOrderOfInputsAndOutputs) {
  const Graph graph = import_model(as_bytes(conv_model()));
  EXPECT_EQ(graph.values[graph.inputs[0]].name, "x");
  EXPECT_EQ(graph.values[graph.inputs[0]].type.shape, (Shape{1, 2, 3, 2}));
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "y");
  TfliteModel m;
  const auto x = m.tensor("x", {1, 2, 3, 2});
  const auto w = m.floats("w", {1, 1, 2, 2}, {1, 0.5f, 10, 2});
  const auto y = m.tensor("y", {1, 2, 3, 1});
  m.op(3, {x, w}, {y}, tfl::BuiltinOptions::Conv2DOptions,
       tfl::CreateConv2DOptions(m.builder(), tfl::Padding::same, 1, 1).Union());
  // Pixel value v: left v - v / 2, right 10 v - 2 v; SAME pads one column, at the end.
  EXPECT_TRUE(close(run_both(m.finish({x}, {y}), {small_image()}),
                    tensor({1, 2, 3, 1}, {16.5f, 25, 1.5f, 42, 50.5f, 3}), 1e-6));
}

TEST(Tflite, FusedActivationBoundsTheResult) {
  EXPECT_TRUE(close(run_both(conv_model(), {small_image()}), tensor({1, 2, 3, 1}, {6, 6, 6, 6, 6, 6}), 0.0));
}

TEST(Tflite, DepthwiseConvWithMultiplier) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 2, 3, 2});
  const auto w = m.floats("w", {1, 1, 1, 4}, {1, 2, 3, 4});
  const auto y = m.tensor("y", {1, 1, 2, 4});
  m.op(4, {x, w}, {y}, tfl::BuiltinOptions::DepthwiseConv2DOptions,
       tfl::CreateDepthwiseConv2DOptions(m.builder(), tfl::Padding::valid, 2, 2).Union());
  EXPECT_TRUE(close(run_both(m.finish({x}, {y}), {small_image()}),
                    tensor({1, 1, 2, 4}, {1, 2, -3, -4, 3, 6, -9, -12}), 1e-6));
}

// ReLU (held as an image after the pool), a reshape that needs the file's order, and broadcasting.
TEST(Tflite, ReshapeSeesTheFilesOrder) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 2, 3, 2});
  const auto p = m.tensor("p", {1, 2, 3, 2}), s = m.tensor("s", {1, 2, 3, 2}), y = m.tensor("y", {1, 6, 2});
  const auto scale = m.floats("scale", {2}, {1, 10});
  const auto shape = m.ints("shape", {1, 6, 2});
  m.op(17, {x}, {p}, tfl::BuiltinOptions::Pool2DOptions,
       tfl::CreatePool2DOptions(m.builder(), tfl::Padding::valid, 1, 1, 1, 1).Union());
  m.op(18, {p, scale}, {s}, tfl::BuiltinOptions::MulOptions, tfl::CreateMulOptions(m.builder()).Union());
  m.op(22, {s, shape}, {y});
  EXPECT_TRUE(close(run_both(m.finish({x}, {y}), {small_image()}),
                    tensor({1, 6, 2}, {1, -10, 2, -20, 3, -30, 4, -40, 5, -50, 6, -60}), 1e-6));
}

TEST(Tflite, MeanOverHeightAndWidthThenFullyConnected) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 2, 3, 2}), p = m.tensor("p", {1, 2, 3, 2});
  const auto mean = m.tensor("mean", {1, 2}), y = m.tensor("y", {1, 1});
  const auto axes = m.ints("axes", {1, 2});
  const auto w = m.floats("w", {1, 2}, {2, 1}), b = m.floats("b", {1}, {0.25f});
  m.op(17, {x}, {p}, tfl::BuiltinOptions::Pool2DOptions,
       tfl::CreatePool2DOptions(m.builder(), tfl::Padding::valid, 1, 1, 1, 1).Union());
  m.op(40, {p, axes}, {mean}, tfl::BuiltinOptions::ReducerOptions,
       tfl::CreateReducerOptions(m.builder()).Union());
  m.op(9, {mean, w, b}, {y}, tfl::BuiltinOptions::FullyConnectedOptions,
       tfl::CreateFullyConnectedOptions(m.builder()).Union());
  EXPECT_TRUE(close(run_both(m.finish({x}, {y}), {small_image()}), tensor({1, 1}, {3.75f}), 1e-6));
}

TEST(Tflite, HalfWeightsAreFolded) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 2}),
             h = m.constant<uint16_t>("h", {2}, {0x3c00, 0xc100}, tfl::TensorType::float16);
  const auto f = m.tensor("f", {2}), y = m.tensor("y", {1, 2});
  m.op(6, {h}, {f});
  m.op(0, {x, f}, {y}, tfl::BuiltinOptions::AddOptions, tfl::CreateAddOptions(m.builder()).Union());
  const std::string bytes = m.finish({x}, {y});
  EXPECT_EQ(import_model(as_bytes(bytes)).nodes.size(), 1u);
  EXPECT_TRUE(close(run_both(bytes, {tensor({1, 2}, {10, 20})}), tensor({1, 2}, {11, 17.5f}), 0.0));
}

// 4x4 in blocks of 2x2, of which the upper right and the lower left are stored.
std::string sparse_model(const std::vector<int32_t>& order = {0, 1, 2, 3}) {
  TfliteModel m;
  auto& b = m.builder();
  const auto dense = [&](int32_t size) { return tfl::CreateDimension(b, tfl::DimensionFormat::dense, size); };
  const std::vector<uint8_t> segments{0, 1, 2}, indices{1, 0};
  const auto csr =
      tfl::CreateDimension(b, tfl::DimensionFormat::sparse_csr, 0, tfl::IndexVector::Uint8Vector,
                           tfl::CreateUint8VectorDirect(b, &segments).Union(), tfl::IndexVector::Uint8Vector,
                           tfl::CreateUint8VectorDirect(b, &indices).Union());
  const std::vector<flatbuffers::Offset<tfl::Dimension>> dimensions{dense(2), csr, dense(2), dense(2)};
  const std::vector<int32_t> blocks{0, 1};
  const auto sparsity = tfl::CreateSparsityDirect(b, &order, &blocks, &dimensions);
  const auto w = m.constant<float>("w", {4, 4}, {1, 2, 3, 4, 5, 6, 7, 8}, tfl::TensorType::float32, sparsity);
  const auto x = m.tensor("x", {4, 4}), d = m.tensor("d", {4, 4}), y = m.tensor("y", {4, 4});
  m.op(124, {w}, {d});
  m.op(0, {x, d}, {y}, tfl::BuiltinOptions::AddOptions, tfl::CreateAddOptions(b).Union());
  return m.finish({x}, {y});
}

TEST(Tflite, SparseWeightsInBlocks) {
  EXPECT_TRUE(close(run_both(sparse_model(), {tensor({4, 4}, std::vector<float>(16, 0.0f))}),
                    tensor({4, 4}, {0, 0, 1, 2, 0, 0, 3, 4, 5, 6, 0, 0, 7, 8, 0, 0}), 0.0));
  EXPECT_TRUE(close(run_both(sparse_model({0, 1, 3, 2}), {tensor({4, 4}, std::vector<float>(16, 0.0f))}),
                    tensor({4, 4}, {0, 0, 1, 3, 0, 0, 2, 4, 5, 7, 0, 0, 6, 8, 0, 0}), 0.0));
  EXPECT_VELLUM_ERROR(import_model(as_bytes(sparse_model({0, 1, 1, 2}))), ErrorCode::corrupt_model, "'w'",
                      "permutation");
}

TEST(Tflite, TransposedConvOfMediaPipe) {
  TfliteModel m;
  const auto x = m.tensor("x", {1, 1, 2, 1}), w = m.floats("w", {1, 2, 2, 1}, {1, 2, 3, 4});
  const auto b = m.floats("b", {1}, {10}), y = m.tensor("y", {1, 1, 4, 1});
  // Its rule cuts (kernel - (input - 1) % stride - 1) off an axis: the last row, and no column.
  const std::vector<uint8_t> options{1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0};  // same, strides 2 and 2
  m.op(32, {x, w, b}, {y}, tfl::BuiltinOptions::NONE, 0, "Convolution2DTransposeBias", options);
  EXPECT_TRUE(close(run_both(m.finish({x}, {y}), {tensor({1, 1, 2, 1}, {1, 100})}),
                    tensor({1, 1, 4, 1}, {11, 12, 110, 210}), 1e-6));
}

std::vector<uint8_t> attention_options(int32_t width) {
  flexbuffers::Builder b;
  b.Map([&] {
    b.Int("left_rotation_idx", 0);
    b.Int("right_rotation_idx", 1);
    b.TypedVector("subset_idxs", [&] {
      for (const int index : {0, 1, 2}) b.Int(index);
    });
    b.Int("output_width", width);
    b.Int("output_height", 1);
    b.Float("scale_x", 1.0f);
    b.Float("scale_y", 1.0f);
    b.Float("target_rotation_radians", 0.0f);
  });
  b.Finish();
  return b.GetBuffer();
}

// Landmarks (1, 1), (3, 1), (2, 2): a box of 2 x 1 in an image of which they cut pixels 1 and 2 of row 1.
std::string attention_model(int32_t version = 2, int32_t width = 2, std::vector<uint8_t> options = {}) {
  if (options.empty()) options = attention_options(width);
  TfliteModel m;
  const auto image = m.tensor("image", {1, 2, 3, 2}), landmarks = m.tensor("landmarks", {1, 3, 3});
  const auto matrix = m.tensor("matrix", {1, 4, 4}), crop = m.tensor("crop", {1, 1, 2, 2});
  const auto in_crop = m.floats("in_crop", {1, 1, 2}, {2, 0.5f}), moved = m.tensor("moved", {1, 1, 2});
  const auto none = tfl::BuiltinOptions::NONE;
  m.op(32, {landmarks}, {matrix}, none, 0, "Landmarks2TransformMatrix", options, version);
  m.op(32, {image, matrix}, {crop}, none, 0, "TransformTensorBilinear", options, version);
  m.op(32, {in_crop, matrix}, {moved}, none, 0, "TransformLandmarks", {}, version);
  return m.finish({image, landmarks}, {crop, moved});
}

TEST(Tflite, AttentionToARegionOfMediaPipe) {
  const Graph graph = optimise(import_model(as_bytes(attention_model())), {});
  const auto results =
      evaluate(graph, std::vector<HostTensor>{small_image(), tensor({1, 3, 3}, {1, 1, 9, 3, 1, 9, 2, 2, 9})});
  EXPECT_TRUE(close(results[0], tensor({1, 1, 2, 2}, {5, -5, 6, -6}), 1e-5));
  EXPECT_TRUE(close(results[1], tensor({1, 1, 2}, {3, 1.5f}), 1e-5));
}

TEST(Tflite, OptionsOfTheAttentionOperatorsAreChecked) {
  EXPECT_VELLUM_ERROR(import_model(as_bytes(attention_model(1))), ErrorCode::unsupported, "version 1");
  EXPECT_VELLUM_ERROR(import_model(as_bytes(attention_model(2, 0))), ErrorCode::corrupt_model,
                      "output_width is 0");
  EXPECT_VELLUM_ERROR(import_model(as_bytes(attention_model(2, 2, {1, 2, 3, 4}))), ErrorCode::corrupt_model,
                      "options are");
}

TEST(Tflite, WhatIsNotReadIsNamed) {
  TfliteModel unknown;
  const auto x = unknown.tensor("x", {1}), y = unknown.tensor("y", {1});
  unknown.op(16, {x}, {y});
  unknown.op(32, {x}, {y}, tfl::BuiltinOptions::NONE, 0, "MyOperator");
  EXPECT_VELLUM_ERROR(import_model(as_bytes(unknown.finish({x}, {y}))), ErrorCode::unsupported, "LSTM",
                      "'MyOperator'");
  TfliteModel broken;
  const auto a = broken.tensor("a", {1});
  broken.op(19, {77}, {a});
  EXPECT_VELLUM_ERROR(import_model(as_bytes(broken.finish({a}, {a}))), ErrorCode::corrupt_model, "RELU",
                      "77");
}

void import_tflite_or_refuse(const std::string& bytes, size_t& imported, size_t& refused) {
  try {
    optimise(import_tflite(as_bytes(bytes)), {});
    ++imported;
  } catch (const Error& error) {
    EXPECT_STRNE(error.what(), "");
    EXPECT_NE(error.code(), ErrorCode::internal) << error.what();
    ++refused;
  }
}

TEST(Tflite, DamagedFilesAreRefusedOrSound) {
  size_t imported = 0, refused = 0;
  std::mt19937 random(20260101);
  for (const std::string& whole : {conv_model(), sparse_model(), attention_model()}) {
    for (size_t length = 0; length < whole.size(); ++length) {
      import_tflite_or_refuse(whole.substr(0, length), imported, refused);
    }
    for (int round = 0; round < 3000; ++round) {
      std::string damaged = whole;
      for (auto flips = 1 + random() % 3; flips > 0; --flips) {
        damaged[random() % damaged.size()] = static_cast<char>(random() & 0xff);
      }
      import_tflite_or_refuse(damaged, imported, refused);
    }
  }
  EXPECT_GT(imported, 100u);
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace vellum::test

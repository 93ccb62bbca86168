// A network of 8-bit integers in the two forms that ONNX Runtime's quantiser writes: pairs of QuantizeLinear
// and DequantizeLinear between layers in floats, or operators of integers. All sums are exact, and none is
// half a step from an integer, so that every way to compute them gives the same bits.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "public_interface.hpp"
#include "support/tensors.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

using Names = std::vector<std::string>;

struct Layer {
  std::string type, integer_type;
  Names inputs;  // tensors of activations
  std::string output;
  Attributes attributes = {};
  Shape weights = {};  // of -4 to 4 quarters
};

const std::vector<Layer>& layers() {
  using Ints = Attributes::Ints;
  static const std::vector<Layer> list{
      // Its zero point is the lowest integer: the quantisation is a ReLU.
      {"Conv",
       "QLinearConv",
       {"x"},
       "stem",
       attributes({{"strides", Ints{2, 2}}, {"pads", Ints(4, 1)}}),
       {8, 3, 3, 3}},
      {"Conv",
       "QLinearConv",
       {"stem"},
       "filtered",
       attributes({{"group", int64_t{8}}, {"pads", Ints(4, 1)}}),
       {8, 1, 3, 3}},
      {"Conv", "QLinearConv", {"filtered"}, "product", {}, {8, 8, 1, 1}},
      {"Add", "com.microsoft.QLinearAdd", {"stem", "product"}, "sum"},
      {"GlobalAveragePool", "com.microsoft.QLinearGlobalAveragePool", {"sum"}, "mean"},
      {"Flatten", "Flatten", {"mean"}, "flat"},
      {"Gemm", "com.microsoft.QGemm", {"flat"}, "y", attributes({{"transB", int64_t{1}}}), {10, 8}}};
  return list;
}

// Each step is thrice, or 27 times, what the sums before it are multiples of.
const std::map<std::string, std::pair<float, int64_t>>& grids() {
  static const std::map<std::string, std::pair<float, int64_t>> map{
      {"x", {1.0f / 4, 128}},          {"stem", {3.0f / 16, 0}},     {"filtered", {9.0f / 64, 120}},
      {"product", {27.0f / 256, 100}}, {"sum", {81.0f / 256, 50}},   {"mean", {2187.0f / 16384, 60}},
      {"flat", {2187.0f / 16384, 60}}, {"y", {6561.0f / 65536, 128}}};
  return map;
}

HostTensor whole_numbers(const Shape& shape, uint32_t seed, float most) {
  HostTensor tensor = random_tensor(shape, seed, -most, most);
  for (float& value : tensor.mutable_as<float>()) value = std::nearbyint(value);
  return tensor;
}

OnnxModel model_without_layers() {
  OnnxModel model;
  model.input("x", {1, 3, 16, 16}).output("y");
  for (const auto& [name, grid] : grids()) {
    model.initializer(name + "_s", HostTensor::f32({}, std::array{grid.first}));
    model.initializer(name + "_z", HostTensor::from<int64_t>(DType::u8, {}, std::array{grid.second}));
  }
  model.initializer("w_s", HostTensor::f32({}, std::array{0.25f}));
  model.initializer("w_z", HostTensor::from<int64_t>(DType::i8, {}, std::array{int64_t{0}}));
  for (const Layer& layer : layers()) {
    if (layer.weights.empty()) continue;
    const std::string& name = layer.output;
    model.initializer(name + "_w_q", cast(whole_numbers(layer.weights, 1, 4), DType::i8));
    model.initializer(name + "_b_q", cast(whole_numbers({layer.weights[0]}, 2, 20), DType::i32));
    model.initializer(name + "_b_s",
                      HostTensor::f32({}, std::array{0.25f * grids().at(layer.inputs[0]).first}));
  }
  return model;
}

void quantise(OnnxModel& model, const std::string& from, const std::string& tensor) {
  model.node("QuantizeLinear", {from, tensor + "_s", tensor + "_z"}, {tensor + "_q"});
}

void dequantise(OnnxModel& model, const std::string& tensor, const std::string& to) {
  model.node("DequantizeLinear", {tensor + "_q", tensor + "_s", tensor + "_z"}, {to});
}

OnnxModel model_of_pairs() {
  OnnxModel model = model_without_layers();
  quantise(model, "x", "x");
  dequantise(model, "x", "x_r");
  for (const Layer& layer : layers()) {
    const std::string& name = layer.output;
    Names inputs;
    for (const std::string& input : layer.inputs) inputs.push_back(input + "_r");
    if (!layer.weights.empty()) {
      model.node("DequantizeLinear", {name + "_w_q", "w_s", "w_z"}, {name + "_w"});
      model.node("DequantizeLinear", {name + "_b_q", name + "_b_s"}, {name + "_b"});
      inputs.insert(inputs.end(), {name + "_w", name + "_b"});
    }
    model.node(layer.type, inputs, {name + "_sum"}, layer.attributes);
    quantise(model, name + "_sum", name);
    dequantise(model, name, name == "y" ? "y" : name + "_r");
  }
  return model;
}

OnnxModel model_of_integers() {
  OnnxModel model = model_without_layers();
  quantise(model, "x", "x");
  for (const Layer& layer : layers()) {
    const std::string& name = layer.output;
    const bool convolves = layer.type == "Conv", moves = layer.type == "Flatten";
    Names inputs;
    for (const std::string& input : layer.inputs)
      inputs.insert(inputs.end(), {input + "_q", input + "_s", input + "_z"});
    if (moves) inputs.resize(1);
    if (!layer.weights.empty()) inputs.insert(inputs.end(), {name + "_w_q", "w_s", "w_z"});
    if (!layer.weights.empty() && !convolves) inputs.push_back(name + "_b_q");
    if (!moves) inputs.insert(inputs.end(), {name + "_s", name + "_z"});
    if (convolves) inputs.push_back(name + "_b_q");
    model.node(layer.integer_type, inputs, {name + "_q"}, layer.attributes);
  }
  dequantise(model, "y", "y");
  return model;
}

struct Computed {
  std::vector<float> y;
  size_t dispatches = 0;
};

Computed compute(const OnnxModel& network, StorageChoice storage, Names disabled_passes = {}) {
  const Device device = Device::open(device_options());
  SessionOptions options;
  options.storage = storage;
  options.debug.disabled_passes = std::move(disabled_passes);
  Session session(device, load(network), options);
  session.set_input("x", random_tensor({1, 3, 16, 16}, 3, -9.0f, 9.0f));
  session.run();
  return {session.output("y").to_floats(), session.dispatch_count()};
}

TEST(QuantisedNetwork, RoundingsArePartOfTheLayers) {
  for (const StorageChoice storage : {StorageChoice::buffer, StorageChoice::image2d}) {
    const Computed pairs = compute(model_of_pairs(), storage);
    const Computed apart = compute(model_of_pairs(), storage, {"fuse_quantization"});
    const std::set<float> values(pairs.y.begin(), pairs.y.end());
    EXPECT_GT(values.size(), 3u) << "the outputs saturate";
    EXPECT_EQ(pairs.y, apart.y);
    // The input's and the mean's roundings, and what changes layouts.
    EXPECT_LE(pairs.dispatches, layers().size() + 5);
    EXPECT_GT(apart.dispatches, 2 * pairs.dispatches);
  }
}

TEST(QuantisedNetwork, OperatorsOfIntegersAreTheSame) {
  const Computed pairs = compute(model_of_pairs(), StorageChoice::buffer);
  const Computed integers = compute(model_of_integers(), StorageChoice::buffer);
  EXPECT_EQ(pairs.y, integers.y);
  EXPECT_EQ(pairs.dispatches, integers.dispatches);
}

}  // namespace
}  // namespace vellum::test

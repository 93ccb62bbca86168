// Layers of tensors in bytes multiply the integers of both and round sums in one product: their results in
// steps do not depend on the size of the steps. With steps of 1 all arithmetic is exact, and half of the sums
// are ties.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "exec/executor.hpp"
#include "passes/passes.hpp"
#include "support/environment.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace layer_steps_test {

using Ints = Attributes::Ints;

struct Layer {
  const char* name;
  Shape x, w, y;
  int64_t group = 1;
  bool has_residual = false;
  Ints pads = {};  // empty: as many as keep the size
  int64_t stride = 1;
};

HostTensor in_steps(const Shape& shape, uint32_t seed, float most, float step) {
  HostTensor tensor = random_tensor(shape, seed, -most, most);
  for (float& value : tensor.mutable_as<float>()) value = std::nearbyint(value) * step;
  return tensor;
}

struct Network {
  OnnxModel model;
  std::vector<HostTensor> inputs;
};

Network network_of(const Layer& layer, float step) {
  Network network;
  OnnxModel& model = network.model;
  model.initializer("s", HostTensor::f32({}, std::array{step}));
  model.initializer("z", HostTensor::from<int64_t>(DType::u8, {}, std::array{int64_t{128}}));
  const auto round_to_steps = [&](const std::string& from, const std::string& to) {
    model.node("QuantizeLinear", {from, "s", "z"}, {to + "_q"});
    model.node("DequantizeLinear", {to + "_q", "s", "z"}, {to});
  };
  model.input("x", layer.x);
  network.inputs.push_back(in_steps(layer.x, 1, 9, step));
  round_to_steps("x", "x_r");
  model.initializer("w", in_steps(layer.w, 2, 7, 0.5f));
  model.initializer("b", in_steps({layer.w[0]}, 3, 20, 0.5f * step));
  if (layer.w.size() == 2) {
    model.node("Gemm", {"x_r", "w", "b"}, {"sum"}, attributes({{"transB", int64_t{1}}}));
  } else {
    const Ints pads = layer.pads.empty() ? Ints(4, layer.w[2] / 2) : layer.pads;
    model.node("Conv", {"x_r", "w", "b"}, {"sum"},
               attributes({{"group", layer.group}, {"pads", pads}, {"strides", Ints(2, layer.stride)}}));
  }
  round_to_steps("sum", "sum_r");
  std::string result = "sum_r";
  if (layer.has_residual) {
    model.input("r", layer.y);
    network.inputs.push_back(in_steps(layer.y, 4, 30, step));
    round_to_steps("r", "r_r");
    model.node("Add", {"sum_r", "r_r"}, {"total"});
    round_to_steps("total", result = "total_r");
  }
  model.output("y").node("Relu", {result}, {"y"});
  return network;
}

const std::vector<Layer>& layers() {
  static const std::vector<Layer> list{
      {"product", {7, 20}, {9, 20}, {7, 9}},
      {"product with a residual", {11, 20}, {8, 20}, {11, 8}, 1, true},
      {"1x1", {1, 20, 6, 6}, {9, 20, 1, 1}, {1, 9, 6, 6}},
      {"1x1 with a residual", {1, 20, 5, 7}, {9, 20, 1, 1}, {1, 9, 5, 7}, 1, true},
      {"3x3", {2, 6, 7, 5}, {8, 6, 3, 3}, {2, 8, 7, 5}},
      {"3x3 with a residual", {1, 6, 7, 5}, {8, 6, 3, 3}, {1, 8, 7, 5}, 1, true},
      {"3x3 of a picture", {1, 3, 9, 9}, {8, 3, 3, 3}, {1, 8, 9, 9}},
      {"3x3 depthwise", {1, 9, 8, 7}, {9, 1, 3, 3}, {1, 9, 8, 7}, 9},
      {"3x3 depthwise of 32 columns", {2, 10, 9, 32}, {10, 1, 3, 3}, {2, 10, 9, 32}, 10, true},
      {"3x3 depthwise, stride 2", {1, 10, 9, 32}, {10, 1, 3, 3}, {1, 10, 5, 16}, 10, false, Ints(4, 1), 2},
      {"3x3 depthwise, padded after", {1, 6, 8, 32}, {6, 1, 3, 3}, {1, 6, 4, 16}, 6, false, {0, 0, 1, 1}, 2},
      {"5x5 depthwise", {1, 6, 6, 32}, {6, 1, 5, 5}, {1, 6, 6, 32}, 6},
      {"3x3 in groups", {1, 16, 6, 6}, {16, 4, 3, 3}, {1, 16, 6, 6}, 4},
  };
  return list;
}

TEST(LayerSteps, RoundTiesExactly) {
  for (const Layer& layer : layers()) {
    const Network whole = network_of(layer, 1.0f);
    const std::vector<float> want = evaluate(optimise(whole.model.graph(), {}), whole.inputs)[0].to_floats();
    for (const float step : {0.1f, 0.0173f})
      for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer}) {
        SCOPED_TRACE(std::string(layer.name) + ", step " + std::to_string(step));
        const Network network = network_of(layer, step);
        Program program =
            lower(optimise(network.model.graph(), {}), test_context()->caps(), {.storage = storage});
        Executor executor(test_context(), compile_program(test_context(), std::move(program)));
        for (size_t i = 0; i < network.inputs.size(); ++i) executor.set_input(i, network.inputs[i]);
        executor.run();
        std::vector<float> got = executor.output(0).to_floats();
        for (float& value : got) value = std::nearbyint(value / step);
        EXPECT_EQ(got, want);
      }
  }
}

}  // namespace layer_steps_test
}  // namespace vellum::test

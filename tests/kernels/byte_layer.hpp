// Layers of convolutions whose input, weights and results are quantised to bytes, for the tests of kernels
// that multiply bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exec/executor.hpp"
#include "graph/operators/conv/conv.hpp"
#include "passes/passes.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test::byte_layer {

using Ints = Attributes::Ints;

struct Layer {
  int64_t inputs, outputs, kernel = 1;
  float least = -127, most = 127;  // of the integers of the weights
  int64_t zero = 128;              // of the input
  bool has_fixed_point = false, has_residual = false;
  Ints pads = {0, 0, 0, 0};
  int64_t stride = 1, groups = 1, height = 6, width = 7;
};

inline constexpr float kInputStep = 0.037f, kWeightStep = 0.011f, kOutputStep = 0.81f, kResidualStep = 0.5f;

inline HostTensor integers(const Shape& shape, uint32_t seed, float least, float most, float step) {
  HostTensor tensor = random_tensor(shape, seed, least - 0.5f, most + 0.5f);
  for (float& value : tensor.mutable_as<float>())
    value = std::clamp(std::nearbyint(value), least, most) * step;
  return tensor;
}

inline void quantise(OnnxModel& model, const std::string& from, const std::string& to, float step,
                     int64_t zero) {
  model.initializer(to + "_s", HostTensor::f32({}, std::array{step}));
  model.initializer(to + "_z", HostTensor::from<int64_t>(DType::u8, {}, std::array{zero}));
  model.node("QuantizeLinear", {from, to + "_s", to + "_z"}, {to + "_q"});
  model.node("DequantizeLinear", {to + "_q", to + "_s", to + "_z"}, {to});
}

inline std::shared_ptr<const FixedPoint> fixed_point_of(const Layer& layer) {
  auto fixed = std::make_shared<FixedPoint>();
  fixed->x_scale = kInputStep;
  fixed->y_scale = kOutputStep;
  for (int64_t m = 0; m < layer.outputs; ++m) {
    fixed->w_scale.push_back(kWeightStep);
    fixed->bias.push_back(static_cast<int32_t>(1000 - 317 * m));
    fixed->multipliers.push_back(
        fixed_multiplier(static_cast<double>(kInputStep) * static_cast<double>(kWeightStep) /
                         static_cast<double>(kOutputStep)));
  }
  return fixed;
}

inline Graph graph_of(const Layer& layer) {
  OnnxModel model;
  model.input("x", {2, layer.inputs, layer.height, layer.width}).output("y");
  quantise(model, "x", "x_r", kInputStep, layer.zero);
  model.initializer("w", integers({layer.outputs, layer.inputs / layer.groups, layer.kernel, layer.kernel}, 2,
                                  layer.least, layer.most, kWeightStep));
  std::vector<std::string> inputs{"x_r", "w"};
  if (!layer.has_fixed_point) {
    model.initializer("b", integers({layer.outputs}, 3, -3000, 3000, kInputStep * kWeightStep));
    inputs.emplace_back("b");
  }
  model.node("Conv", inputs, {"c"},
             attributes({{"pads", layer.pads}, {"strides", Ints(2, layer.stride)}, {"group", layer.groups}}));
  quantise(model, "c", "c_r", kOutputStep, 130);
  std::string last = "c_r";
  if (layer.has_residual) {
    model.input("z", {1, layer.outputs, 1, 1});
    quantise(model, "z", "z_r", kResidualStep, 128);
    model.node("Add", {"c_r", "z_r"}, {"a"});
    quantise(model, "a", last = "a_r", kOutputStep, 128);
  }
  model.node("LeakyRelu", {last}, {"y"});
  Graph graph = optimise(model.graph(), {});
  if (!layer.has_fixed_point) return graph;
  for (Node& node : graph.nodes)
    if (const auto* conv = dynamic_cast<const Conv*>(node.op.get())) {
      auto copy = std::make_shared<Conv>(*conv);
      copy->fixed_point = fixed_point_of(layer);
      node.op = std::move(copy);
    }
  return graph;
}

inline std::vector<HostTensor> inputs_of(const Layer& layer) {
  const auto zero = static_cast<float>(layer.zero);
  std::vector<HostTensor> inputs{
      integers({2, layer.inputs, layer.height, layer.width}, 1, -zero, 255 - zero, kInputStep)};
  if (layer.has_residual) inputs.push_back(integers({1, layer.outputs, 1, 1}, 4, -100, 100, kResidualStep));
  return inputs;
}

inline const std::string* value_of(const Program& program, std::string_view macro) {
  for (const Task& task : program.tasks)
    if (task.dispatch)
      for (const auto& [name, value] : task.dispatch->defines)
        if (name == macro) return &value;
  return nullptr;
}

inline std::vector<float> run(Program program, const std::vector<HostTensor>& inputs) {
  Executor executor(test_context(), compile_program(test_context(), std::move(program)));
  for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
  executor.run();
  return executor.output(0).to_floats();
}

}  // namespace vellum::test::byte_layer

// A small network for tests of the first-use check, on a device whose driver may be broken.
#pragma once

#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "api/impl.hpp"
#include "interposed_context.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {

// Conv 3x3 and Relu, MaxPool, Conv 1x1, Softmax.
inline OnnxModel network() {
  OnnxModel model;
  model.input("x", {1, 6, 18, 22})
      .initializer("w1", random_tensor({20, 6, 3, 3}, 1))
      .initializer("b1", random_tensor({20}, 2))
      .initializer("w2", random_tensor({12, 20, 1, 1}, 3))
      .node("Conv", {"x", "w1", "b1"}, {"a"}, attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}}),
            "conv3x3")
      .node("Relu", {"a"}, {"b"}, {}, "relu")
      .node(
          "MaxPool", {"b"}, {"c"},
          attributes({{"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}}),
          "pool")
      .node("Conv", {"c", "w2"}, {"d"}, {}, "conv1x1")
      .node("Softmax", {"d"}, {"y"}, attributes({{"axis", int64_t{1}}}), "softmax")
      .output("y");
  return model;
}

struct DeviceUse {
  SelfCheck self_check = SelfCheck::on;
  std::filesystem::path cache = {};
  uint32_t newer_driver = 0;
  DeviceType type = DeviceType::cpu;
};

inline Device open(const Interposer& vulkan, const DeviceUse& use) {
  gpu::ContextOptions options = test_context_options();
  options.get_instance_proc_addr = vulkan.get_instance_proc_addr();
  options.cache_folder = use.cache;
  const auto limits = options.adjust_caps;
  options.adjust_caps = [use, limits](const DeviceCaps& caps) {
    DeviceCaps adjusted = limits ? limits(caps) : caps;
    adjusted.driver_version += use.newer_driver;
    adjusted.type = use.type;
    return adjusted;
  };
  auto impl = std::make_shared<Device::Impl>();
  impl->self_check = use.self_check;
  impl->context = gpu::Context::create(options);
  return Handles::device(std::move(impl));
}

struct Result {
  HostTensor output;
  std::string warnings;
};

inline Result run(const Device& device, const Model& model, const SessionOptions& options = {}) {
  Session session(device, model, options);
  const HostTensor x = random_tensor(session.inputs().front().shape, 4);
  Tensor input(DType::f32, x.shape());
  std::memcpy(input.mutable_data(), x.data(), input.byte_size());
  session.set_input("x", input);
  session.run();
  const Tensor output = session.output("y");
  HostTensor values(DType::f32, output.shape());
  std::memcpy(values.mutable_as<float>().data(), output.data(), output.byte_size());
  std::string warnings;
  for (const std::string& warning : session.warnings()) warnings += warning + "\n";
  return {values, warnings};
}

inline Result run(const Device& device, const SessionOptions& options = {}) {
  static const std::string bytes = network().bytes();
  return run(device, Model::load(std::as_bytes(std::span(bytes))), options);
}

}  // namespace vellum::test

#include "faulty_driver/faulty_network.hpp"

#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "api/impl.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {

std::string network() {
  OnnxModel model;
  model.input("x", {1, 6, 10, 12})
      .initializer("w1", random_tensor({20, 6, 3, 3}, 1))
      .initializer("w2", random_tensor({12, 20, 1, 1}, 3))
      .node("Conv", {"x", "w1"}, {"a"}, {}, "conv3x3")
      .node("Conv", {"a", "w2"}, {"d"}, {}, "conv1x1")
      .node("Softmax", {"d"}, {"y"}, attributes({{"axis", int64_t{1}}}), "softmax")
      .output("y");
  return model.bytes();
}

gpu::ContextOptions context_options(const FaultyDriver& driver, const std::filesystem::path& folder,
                                    const LogCallback& log) {
  gpu::ContextOptions options;
  options.get_instance_proc_addr = driver.get_instance_proc_addr();
  options.cache_folder = folder;
  options.log = log;
  // Long, because lavapipe compiles a shader while it is waited for; the driver that hangs says so at once.
  options.wait_limit = std::chrono::seconds(60);
  return options;
}

Device open(const FaultyDriver& driver, const std::filesystem::path& folder, const LogCallback& log,
            SelfCheck self_check) {
  auto impl = std::make_shared<Device::Impl>();
  impl->self_check = self_check;
  impl->context = gpu::Context::create(context_options(driver, folder, log));
  return Handles::device(std::move(impl));
}

std::vector<float> run_model(const Device& device, const Model& model, const SessionOptions& options,
                             std::vector<std::string>& warnings, int64_t width) {
  Session session(device, model, options);
  const HostTensor x = random_tensor({1, 6, 10, width}, 4);
  Tensor input(DType::f32, x.shape());
  std::memcpy(input.mutable_data(), x.data(), input.byte_size());
  session.set_input("x", input);
  session.run();
  warnings = session.warnings();
  const Tensor output = session.output("y");
  std::vector<float> values(output.byte_size() / sizeof(float));
  std::memcpy(values.data(), output.data(), output.byte_size());
  return values;
}

std::string joined(const std::vector<std::string>& warnings) {
  std::string text;
  for (const std::string& warning : warnings) text += warning + "\n";
  return text;
}

std::vector<float> run_network(const Device& device, std::vector<std::string>& warnings) {
  const std::string bytes = network();
  return run_model(device, Model::load(std::as_bytes(std::span(bytes))), {.storage = StorageChoice::buffer},
                   warnings);
}

}  // namespace vellum::test

// Times MNN on its first Vulkan device in fp32; timing.hpp says how to call it. Whether tensors are in images
// or in buffers is decided when MNN is built (MNN_VULKAN_IMAGE).
#include <MNN/Interpreter.hpp>
#include <MNN/Tensor.hpp>
#include <memory>

#include "timing.hpp"

namespace {

using vellum::bench::Arguments;
using vellum::bench::Floats;
using vellum::bench::Outputs;

struct Loaded {
  std::unique_ptr<MNN::Interpreter, void (*)(MNN::Interpreter*)> net{nullptr, MNN::Interpreter::destroy};
  MNN::Session* session = nullptr;
};

std::function<Outputs()> load(const Arguments& arguments) {
  auto loaded = std::make_shared<Loaded>();
  loaded->net.reset(MNN::Interpreter::createFromFile(arguments.model.c_str()));
  if (!loaded->net) throw std::runtime_error("MNN cannot load " + arguments.model);
  MNN::BackendConfig backend;
  backend.precision = MNN::BackendConfig::Precision_High;
  MNN::ScheduleConfig config;
  config.type = MNN_FORWARD_VULKAN;
  config.backendConfig = &backend;
  loaded->session = loaded->net->createSession(config);
  if (!loaded->session) throw std::runtime_error("MNN cannot make a session of " + arguments.model);
  int backends[2] = {};
  loaded->net->getSessionInfo(loaded->session, MNN::Interpreter::BACKENDS, backends);
  if (backends[0] != MNN_FORWARD_VULKAN) throw std::runtime_error("MNN finds no Vulkan device");
  MNN::Tensor* input = loaded->net->getSessionInput(loaded->session, nullptr);
  return [loaded, input, floats = arguments.input] {
    const std::unique_ptr<MNN::Tensor> from(new MNN::Tensor(input, MNN::Tensor::CAFFE));
    if (static_cast<size_t>(from->elementSize()) != floats.size())
      throw std::runtime_error("MNN's input has another size");
    std::copy(floats.begin(), floats.end(), from->host<float>());
    input->copyFromHostTensor(from.get());
    if (loaded->net->runSession(loaded->session) != MNN::NO_ERROR) throw std::runtime_error("MNN cannot run");
    Outputs outputs;
    for (const auto& [name, output] : loaded->net->getSessionOutputAll(loaded->session)) {
      const std::unique_ptr<MNN::Tensor> to(new MNN::Tensor(output, MNN::Tensor::CAFFE));
      output->copyToHostTensor(to.get());
      outputs[name] = Floats(to->host<float>(), to->host<float>() + to->elementSize());
    }
    return outputs;
  };
}

}  // namespace

int main(int argc, char** argv) { return vellum::bench::time_engine(argc, argv, load); }

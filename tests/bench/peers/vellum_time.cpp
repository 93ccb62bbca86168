// Times Vellum as the other programs of this folder time its peers; timing.hpp says how to call it.
#include <memory>

#include "timing.hpp"
#include "vellum/vellum.hpp"

namespace {

using vellum::bench::Arguments;
using vellum::bench::Floats;
using vellum::bench::Outputs;

std::function<Outputs()> load(const Arguments& arguments) {
  const vellum::Model model = vellum::Model::load(arguments.model);
  vellum::DeviceOptions options;
  options.cache_folder = vellum::default_cache_folder();
  const vellum::Device device = vellum::Device::open(options);
  vellum::SessionOptions untuned;
  untuned.tuned = false;
  auto session = std::make_shared<vellum::Session>(device, model, untuned);
  const std::string input = model.inputs().at(0).name;
  return [session, input, tensor = vellum::Tensor::f32(arguments.shape, arguments.input)] {
    session->set_input(input, tensor);
    session->run();
    Outputs outputs;
    for (const auto& output : session->outputs()) {
      const vellum::Tensor values = session->output(output.name);
      const auto floats = values.as<float>();
      outputs[output.name] = Floats(floats.begin(), floats.end());
    }
    return outputs;
  };
}

}  // namespace

int main(int argc, char** argv) { return vellum::bench::time_engine(argc, argv, load); }

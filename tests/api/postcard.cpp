#include <iostream>
#include <vellum/vellum.hpp>

int main(int, char** arguments) {
  vellum::Device device = vellum::Device::open();
  vellum::Model model = vellum::Model::load(arguments[1]);
  vellum::Session session(device, model);
  const vellum::TensorInfo& image = session.inputs().front();
  for (const auto& [name, tensor] : session.run({{image.name, vellum::Tensor(image.dtype, image.shape)}}))
    std::cout << name << ": " << vellum::to_string(tensor.shape()) << "\n";
}

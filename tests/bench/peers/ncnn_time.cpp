// Times ncnn on its first Vulkan device in fp32: MODEL.param, with MODEL.bin beside it; timing.hpp says how
// to call it.
#include <ncnn/gpu.h>
#include <ncnn/net.h>

#include <algorithm>
#include <memory>

#include "timing.hpp"

namespace {

using vellum::bench::Arguments;
using vellum::bench::Floats;
using vellum::bench::Outputs;

ncnn::Mat to_mat(const Arguments& arguments) {
  const auto& shape = arguments.shape;
  if (shape.size() != 4 || shape[0] != 1) throw std::runtime_error("ncnn takes one image of shape 1xCxHxW");
  const int channels = static_cast<int>(shape[1]), height = static_cast<int>(shape[2]),
            width = static_cast<int>(shape[3]);
  ncnn::Mat mat(width, height, channels);
  const size_t plane = static_cast<size_t>(width) * static_cast<size_t>(height);
  for (int c = 0; c < channels; ++c)
    std::copy_n(arguments.input.begin() + static_cast<std::ptrdiff_t>(plane * static_cast<size_t>(c)), plane,
                static_cast<float*>(mat.channel(c)));
  return mat;
}

Floats to_floats(const ncnn::Mat& mat) {
  Floats floats;
  const size_t plane = static_cast<size_t>(mat.w) * static_cast<size_t>(mat.h) * static_cast<size_t>(mat.d);
  for (int c = 0; c < mat.c; ++c) {
    const float* first = mat.channel(c);
    floats.insert(floats.end(), first, first + plane);
  }
  return floats;
}

std::function<Outputs()> load(const Arguments& arguments) {
  if (ncnn::create_gpu_instance() != 0 || ncnn::get_gpu_count() == 0)
    throw std::runtime_error("ncnn finds no Vulkan device");
  auto net = std::make_shared<ncnn::Net>();
  net->opt.use_vulkan_compute = true;
  net->opt.use_fp16_packed = net->opt.use_fp16_storage = net->opt.use_fp16_arithmetic =
      net->opt.use_fp16_uniform = false;
  net->opt.use_bf16_packed = net->opt.use_bf16_storage = false;
  std::string weights = arguments.model;
  weights.replace(weights.rfind('.'), std::string::npos, ".bin");
  if (net->load_param(arguments.model.c_str()) != 0 || net->load_model(weights.c_str()) != 0)
    throw std::runtime_error("ncnn cannot load " + arguments.model);
  return [net, input = to_mat(arguments)] {
    ncnn::Extractor extractor = net->create_extractor();
    extractor.input(net->input_names().at(0), input);
    Outputs outputs;
    for (const char* name : net->output_names()) {
      ncnn::Mat mat;
      if (extractor.extract(name, mat) != 0)
        throw std::runtime_error(std::string("ncnn cannot compute ") + name);
      outputs[name] = to_floats(mat);
    }
    return outputs;
  };
}

}  // namespace

int main(int argc, char** argv) {
  const int status = vellum::bench::time_engine(argc, argv, load);
  ncnn::destroy_gpu_instance();
  return status;
}

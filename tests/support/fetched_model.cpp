#include "support/fetched_model.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "common/npy.hpp"

namespace vellum::test {
namespace {

namespace fs = std::filesystem;

fs::path test_data() {
  const char* folder = std::getenv("VELLUM_TEST_DATA");
  if (folder == nullptr) throw std::runtime_error("VELLUM_TEST_DATA is not set: run the tests with ctest");
  return folder;
}

HostTensor load_floats(const fs::path& file) {
  const samples::NpyArray array = samples::read_npy(file);
  if (array.dtype != "float32") throw std::runtime_error(file.string() + " is not float32");
  HostTensor tensor(DType::f32, array.shape);
  std::memcpy(tensor.mutable_data(), array.data.data(), tensor.byte_size());
  return tensor;
}

// What `vellum run` makes of a tensor's name.
std::string file_name(std::string name) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  };
  std::replace_if(
      name.begin(), name.end(), [&](char c) { return !allowed(static_cast<unsigned char>(c)); }, '_');
  return name + ".npy";
}

}  // namespace

fs::path FetchedModel::model() const { return test_data() / "models" / file; }

HostTensor FetchedModel::input() const {
  return load_floats(test_data() / "references" / name / "input.npy");
}

HostTensor FetchedModel::output(const std::string& output_name) const {
  return load_floats(test_data() / "references" / name / file_name(output_name));
}

HostTensor FetchedModel::output_rounded_otherwise(const std::string& output_name) const {
  return load_floats(test_data() / "references" / name / "unoptimised" / file_name(output_name));
}

const std::vector<FetchedModel>& fetched_models() {
  static const std::vector<FetchedModel> models = {
      {"blazeface_front", "face_detection_front_128x128_barracuda.onnx"},
      {"blazeface_back", "face_detection_back_256x256_barracuda.onnx"},
      {"mlsd_tiny", "mlsd_320x320_tiny.onnx"}};
  return models;
}

}  // namespace vellum::test

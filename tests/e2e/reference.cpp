#include "e2e/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "common/npy.hpp"

namespace vellum::test {
namespace {

std::mutex messages_mutex;
std::vector<std::string> messages;

std::filesystem::path test_data() {
  const char* folder = std::getenv("VELLUM_TEST_DATA");
  if (!folder) throw std::runtime_error("VELLUM_TEST_DATA is not set; run the tests through ctest");
  return folder;
}

std::string sanitised(std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-') c = '_';
  return name;
}

Tensor read_tensor(const std::filesystem::path& file) {
  const samples::NpyArray array = samples::read_npy(file);
  EXPECT_EQ(array.dtype, "float32") << file;
  Tensor tensor(DType::f32, Shape(array.shape.begin(), array.shape.end()));
  std::memcpy(tensor.mutable_data(), array.data.data(), array.data.size());
  return tensor;
}

Device open_device() {
  DeviceOptions options;
  options.validation = true;
  const char* limits = std::getenv("VELLUM_TEST_LIMITS");
  options.android_baseline_2022 = limits && std::string(limits) == "android_baseline_2022";
  options.log = [](LogLevel level, std::string_view message) {
    if (level < LogLevel::warning) return;
    const std::lock_guard lock(messages_mutex);
    messages.emplace_back(message);
  };
  return Device::open(options);
}

}  // namespace

Reference load_reference(const ReferenceModel& which) {
  const std::filesystem::path folder = test_data() / "references" / which.folder;
  Reference reference{Model::load(test_data() / "models" / which.file), {}, {}};
  reference.inputs[reference.model.inputs().at(0).name] = read_tensor(folder / "input.npy");
  for (const TensorInfo& output : reference.model.outputs())
    reference.outputs[output.name] = read_tensor(folder / (sanitised(output.name) + ".npy"));
  return reference;
}

const Device& device() {
  static const Device opened = open_device();
  return opened;
}

void expect_no_validation_messages() {
  const std::lock_guard lock(messages_mutex);
  for (const std::string& message : messages) ADD_FAILURE() << message;
  messages.clear();
}

void expect_close(const std::map<std::string, Tensor>& got, const std::map<std::string, Tensor>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (const auto& [name, tensor] : want) {
    ASSERT_TRUE(got.count(name)) << "no output " << name;
    ASSERT_EQ(got.at(name).shape(), tensor.shape()) << name;
    const auto a = got.at(name).as<float>(), b = tensor.as<float>();
    double worst = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      const double error = std::abs(double{a[i]} - b[i]) / std::max(1.0, std::abs(double{b[i]}));
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
    EXPECT_LE(worst, tolerance) << "output '" << name << "'";
  }
}

bool on_swiftshader() {
  const char* driver = std::getenv("VELLUM_TEST_DRIVER");
  return driver && std::string(driver) == "swiftshader";
}

}  // namespace vellum::test

#include "e2e/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <span>

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

Distance distance(std::span<const float> got, std::span<const float> want) {
  Distance result;
  for (size_t i = 0; i < want.size(); ++i) {
    const double element = std::abs(double{got[i]} - want[i]) / std::max(1.0, std::abs(double{want[i]}));
    if (std::isnan(element)) return {INFINITY, INFINITY};
    result.largest = std::max(result.largest, element);
    result.root_mean_square += element * element / static_cast<double>(want.size());
  }
  result.root_mean_square = std::sqrt(result.root_mean_square);
  return result;
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
  Reference reference{Model::load(test_data() / "models" / which.file), {}, {}, {}};
  reference.inputs[reference.model.inputs().at(0).name] = read_tensor(folder / "input.npy");
  for (const TensorInfo& output : reference.model.outputs()) {
    const std::string file = sanitised(output.name) + ".npy";
    const Tensor tensor = read_tensor(folder / file);
    const Tensor unoptimised = read_tensor(folder / "unoptimised" / file);
    reference.rounding[output.name] = distance(unoptimised.as<float>(), tensor.as<float>());
    reference.outputs[output.name] = tensor;
  }
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

void expect_close(const std::map<std::string, Tensor>& got, const Reference& reference, Precision precision) {
  const double tolerance = precision == Precision::fp16 ? 2e-2 : 1e-4;
  const double roundoff = precision == Precision::fp16 ? 8192 : 1;  // half: 2^-11, float: 2^-24
  ASSERT_EQ(got.size(), reference.outputs.size());
  for (const auto& [name, tensor] : reference.outputs) {
    ASSERT_TRUE(got.count(name)) << "no output " << name;
    ASSERT_EQ(got.at(name).shape(), tensor.shape()) << name;
    const Distance found = distance(got.at(name).as<float>(), tensor.as<float>());
    const Distance& rounding = reference.rounding.at(name);
    const bool determined = roundoff * rounding.largest <= tolerance;
    EXPECT_LE(found.largest, determined ? tolerance : 3 * roundoff * rounding.largest)
        << "output '" << name << "'";
    EXPECT_LE(found.root_mean_square, std::max(tolerance, 3 * roundoff * rounding.root_mean_square))
        << "output '" << name << "'";
  }
}

bool on_swiftshader() {
  const char* driver = std::getenv("VELLUM_TEST_DRIVER");
  return driver && std::string(driver) == "swiftshader";
}

}  // namespace vellum::test

#include "e2e/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <span>

#include "e2e/decision.hpp"

namespace vellum::test {
namespace {

std::mutex messages_mutex;
std::vector<std::string> messages;

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
    if (message.find(" runs on the host: ") != std::string_view::npos) return;  // in session.warnings() too
    const std::lock_guard lock(messages_mutex);
    messages.emplace_back(message);
  };
  return Device::open(options);
}

}  // namespace

Reference load_reference(const FetchedModel& which) {
  Reference reference{Model::load(which.model()), which.decision, {}, {}, {}, {}};
  reference.inputs[reference.model.inputs().at(0).name] = which.input();
  for (const TensorInfo& output : reference.model.outputs()) {
    const Tensor tensor = which.output(output.name);
    if (which.is_onnx()) {
      reference.rounding[output.name] =
          distance(which.output_rounded_otherwise(output.name).as<float>(), tensor.as<float>());
    } else if (which.rounding.count(output.name)) {
      const double rounding = which.rounding.at(output.name);
      reference.tolerance[output.name] = {3 * rounding, rounding / 20};
    } else {
      reference.tolerance[output.name] = {1e-3, 1e-3};
    }
    reference.outputs[output.name] = tensor;
  }
  return reference;
}

SessionOptions options_for(const Reference& reference) {
  SessionOptions options;
  for (const auto& [name, tensor] : reference.inputs) options.input_shapes[name] = tensor.shape();
  return options;
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

namespace {

void expect_output_close(const std::string& name, const Distance& found, const Distance& rounding,
                         Precision precision) {
  const double tolerance = precision == Precision::fp16 ? 2e-2 : 1e-4;
  const double roundoff = precision == Precision::fp16 ? 8192 : 1;  // half: 2^-11, float: 2^-24
  const bool determined = roundoff * rounding.largest <= tolerance;
  EXPECT_LE(found.largest, determined ? tolerance : 3 * roundoff * rounding.largest)
      << "output '" << name << "'";
  EXPECT_LE(found.root_mean_square, std::max(tolerance, 3 * roundoff * rounding.root_mean_square))
      << "output '" << name << "'";
}

}  // namespace

void expect_close(const std::map<std::string, Tensor>& got, const Reference& reference, Precision precision) {
  EXPECT_EQ(differs(reference.decision, got, reference.outputs), "");
  ASSERT_EQ(got.size(), reference.outputs.size());
  for (const auto& [name, tensor] : reference.outputs) {
    ASSERT_TRUE(got.count(name)) << "no output " << name;
    ASSERT_EQ(got.at(name).shape(), tensor.shape()) << name;
    const Distance found = distance(got.at(name).as<float>(), tensor.as<float>());
    const auto rounding = reference.rounding.find(name);
    if (rounding != reference.rounding.end()) {
      expect_output_close(name, found, rounding->second, precision);
    } else if (precision == Precision::fp32) {
      const Distance& tolerance = reference.tolerance.at(name);
      EXPECT_LE(found.largest, tolerance.largest) << "output '" << name << "'";
      EXPECT_LE(found.root_mean_square, tolerance.root_mean_square) << "output '" << name << "'";
    } else {
      EXPECT_LT(found.largest, INFINITY) << "output '" << name << "'";
    }
  }
}

}  // namespace vellum::test

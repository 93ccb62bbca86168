#include "e2e/reference.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "e2e/decision.hpp"
#include "support/agreement.hpp"
#include "support/environment.hpp"
#include "worst_device/open_worst_device.hpp"

namespace vellum::test {
namespace {

std::mutex messages_mutex;
std::vector<std::string> messages;

Device open_device() {
  if (std::optional<Device> worst = open_worst_device()) return *std::move(worst);
  DeviceOptions options;
  options.validation = with_validation();
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
  Reference reference{which, Model::load(which.model()), {}, {}};
  reference.inputs[reference.model.inputs().at(0).name] = which.input();
  for (const TensorInfo& output : reference.model.outputs())
    reference.outputs[output.name] = which.output(output.name);
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

void expect_close(const std::map<std::string, Tensor>& got, const Reference& reference, Rounding rounding) {
  EXPECT_EQ(differs(reference.fetched.decision, got, reference.outputs), "");
  ASSERT_EQ(got.size(), reference.outputs.size());
  const double roundings = rounding != Rounding::fp32 && worst_device_allowances().truncating_halves ? 2 : 1;
  for (const auto& [name, tensor] : got)
    EXPECT_EQ(disagreement(reference.fetched, name, tensor, rounding, roundings), "");
}

}  // namespace vellum::test

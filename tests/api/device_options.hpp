// Opens the device under test for tests of the public interface.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/environment.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {

// Enables validation, where every message fails the test, and the limits that VELLUM_TEST_LIMITS names.
inline DeviceOptions device_options() {
  const char* limits = std::getenv("VELLUM_TEST_LIMITS");
  DeviceOptions options;
  options.validation = with_validation();
  options.android_baseline_2022 = limits && std::string(limits) == "android_baseline_2022";
  options.log = [](LogLevel level, std::string_view message) {
    if (level >= LogLevel::warning) ADD_FAILURE() << message;
  };
  return options;
}

// For a device of the application, whose instance has the validation layer.
inline DeviceOptions adopt_options() {
  DeviceOptions options = device_options();
  options.validation = false;
  return options;
}

}  // namespace vellum::test

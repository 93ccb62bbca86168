// Runs the tool on the test's device.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "run_tool.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {

class OnDevice : public testing::Test {
 protected:
  // Arguments that put the tool on the test's device.
  std::vector<std::string> with(std::vector<std::string> arguments) const {
    const char* limits = std::getenv("VELLUM_TEST_LIMITS");
    if (limits && std::string(limits) == "android_baseline_2022")
      arguments.insert(arguments.end(), {"--limits", "android-baseline-2022"});
    arguments.insert(arguments.end(), {"--cache", (folder / "cache").string(), "--validation"});
    return arguments;
  }
  std::string save(const OnnxModel& model) const {
    model.save(folder / "model.onnx");
    return (folder / "model.onnx").string();
  }
  std::string path(const char* file) const { return (folder / file).string(); }
  TempFolder folder;
};

}  // namespace vellum::test

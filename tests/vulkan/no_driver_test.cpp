// A machine with the Vulkan loader and without any driver: its list of drivers names a missing file.
#include <gtest/gtest.h>

#include <string>

#include "support/environment.hpp"
#include "vellum/error.hpp"
#include "vulkan/context.hpp"

namespace vellum::gpu {
namespace {

class NoDriver : public testing::Test {
 protected:
  void SetUp() override {
    if (test::under_wine()) GTEST_SKIP() << "the loader is the host's, with the host's environment";
  }

 private:
  test::EnvironmentVariable newer_{"VK_DRIVER_FILES", "/there/is/no/driver.json"};
  test::EnvironmentVariable older_{"VK_ICD_FILENAMES", "/there/is/no/driver.json"};
  test::EnvironmentVariable added_{"VK_ADD_DRIVER_FILES", nullptr};
};

TEST_F(NoDriver, ListIsEmpty) { EXPECT_TRUE(list_devices().empty()); }

TEST_F(NoDriver, OpeningADeviceNamesTheRemedy) {
  try {
    Context::create();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::no_device);
    const std::string text = error.what();
    EXPECT_NE(text.find("install the GPU's Vulkan driver"), std::string::npos) << text;
    EXPECT_EQ(text.find("ErrorIncompatibleDriver"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace vellum::gpu

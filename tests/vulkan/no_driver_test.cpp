// A machine with the Vulkan loader and without any driver: its list of drivers names a missing file.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "vellum/error.hpp"
#include "vulkan/context.hpp"

namespace vellum::gpu {
namespace {

class NoDriver : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* variable : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"})  // newer and older loaders
      setenv(variable, "/there/is/no/driver.json", 1);
    unsetenv("VK_ADD_DRIVER_FILES");
  }
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

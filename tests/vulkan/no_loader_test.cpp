// A machine without Vulkan: this program's own dlopen finds no library.
#include <gtest/gtest.h>

#include "vellum/error.hpp"
#include "vulkan/context.hpp"

#ifndef _WIN32
extern "C" void* dlopen(const char*, int) noexcept { return nullptr; }
#endif

namespace vellum::gpu {
namespace {

TEST(NoLoader, IsAClearError) {
#ifdef _WIN32
  GTEST_SKIP() << "a program cannot replace LoadLibrary";
#else
  for (const bool list : {true, false}) {
    try {
      if (list)
        list_devices();
      else
        Context::create();
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::no_device);
      EXPECT_NE(std::string(error.what()).find("no Vulkan loader (libvulkan.so.1) was found; install"),
                std::string::npos)
          << error.what();
    }
  }
#endif
}

}  // namespace
}  // namespace vellum::gpu

// The check of a device's kernels: right devices pass, and wrong ones are found.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "interposed_context.hpp"
#include "selfcheck/check_kernels.hpp"
#include "support/environment.hpp"
#include "support/errors.hpp"

namespace vellum::test {
namespace {

std::string describe(const KernelCheck& check) {
  return check.operation + " by '" + check.kernel + "', storage " +
         std::to_string(static_cast<int>(check.storage)) + ", precision " +
         std::to_string(static_cast<int>(check.precision)) + ": error " + std::to_string(check.error) + " " +
         check.failure;
}

// The sweeps of tests/kernels check far more; with VELLUM_TEST_FULL this is what a user's check does.
TEST(KernelCheck, TheKernelsOfThisDeviceAreRight) {
  const bool full = in_full();
  std::set<std::string> operations, kernels;
  for (const KernelCheck& check : check_kernels(test_context(), {.only = full ? "" : "Conv 3x3"})) {
    EXPECT_TRUE(check.passed()) << describe(check);
    operations.insert(check.operation);
    kernels.insert(check.kernel);
  }
  EXPECT_GE(operations.size(), full ? 36u : 4u);
  EXPECT_GE(kernels.size(), 3u) << "one algorithm alone";
}

TEST(KernelCheck, ADriverThatComputesNothingIsFound) {
  Interposer vulkan;
  const auto context = interposed_context(vulkan);
  vulkan.skip_dispatches();
  size_t checked = 0;
  for (const char* operation : {"Conv 1x1", "Softmax", "Resize, linear"})
    for (const KernelCheck& check : check_kernels(context, {.only = operation})) {
      ++checked;
      EXPECT_FALSE(check.passed()) << describe(check);
    }
  EXPECT_GE(checked, 18u);
}

TEST(KernelCheck, OtherErrorsAreTheOperators) {
  Interposer vulkan;
  const auto context = interposed_context(vulkan);
  vulkan.fail_allocations_after(0);
  for (const KernelCheck& check : check_kernels(context, {.only = "Add"})) {
    EXPECT_FALSE(check.passed());
    EXPECT_NE(check.failure.find("OutOfDeviceMemory"), std::string::npos) << check.failure;
  }
  vulkan.fail_allocations_after(UINT32_MAX);
}

TEST(KernelCheck, TellsHowFarItIsAndMayBeStopped) {
  size_t calls = 0;
  const auto stop = [&](size_t done, size_t total) {
    EXPECT_EQ(done, calls);
    EXPECT_GT(total, 1u);
    return ++calls < 2;
  };
  EXPECT_VELLUM_ERROR(check_kernels(test_context(), {.only = "Resize", .progress = stop}),
                      ErrorCode::cancelled);
  EXPECT_EQ(calls, 2u);
  EXPECT_VELLUM_ERROR(check_kernels(test_context(), {.only = "Frobnicate"}), ErrorCode::not_found,
                      "Frobnicate");
}

}  // namespace
}  // namespace vellum::test

// The device that tests run on: one Context with validation per process. Every validation message fails a
// test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vulkan/context.hpp"

namespace vellum::test {

// Returns the context of the only driver that the environment shows (TestEnvironment.cmake), with validation,
// synchronisation validation included, and the limits that VELLUM_TEST_LIMITS requests. It is created by the
// first call and destroyed after the last test.
const std::shared_ptr<gpu::Context>& test_context();

// Returns the caps of that device as if it were a GPU of this vendor (0: its own vendor), so that kernels are
// chosen as for that GPU. Cooperative matrices are removed, because they would be preferred to these kernels.
DeviceCaps caps_as_gpu(uint32_t vendor = 0);

// Returns the given caps. With VELLUM_TEST_LIMITS=in_turn also returns caps of other devices that this driver
// can emulate, for which other kernels may be chosen: a desktop GPU, and the limits of the Android Baseline
// 2022.
std::vector<DeviceCaps> caps_to_test(const DeviceCaps& caps);

// Returns the options of that context, for tests that create their own. A validation message of any context
// with these options fails the test in which it occurs; after the last test it fails the program.
gpu::ContextOptions test_context_options();

// Returns the number of log messages since the test began that contain `part`, without validation messages;
// for example to check that a warning was logged.
size_t logged_messages_containing(const std::string& part);

// Returns the number of validation messages so far, and discards them. For tests that provoke such messages.
size_t pop_validation_messages();

}  // namespace vellum::test

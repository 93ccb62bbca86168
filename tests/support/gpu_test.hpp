// The device that tests run on: one validated Context per process, and every validation message fails a test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vulkan/context.hpp"

namespace vellum::test {

// The only driver that the environment shows (TestEnvironment.cmake), with validation, synchronisation
// validation included, and the limits that VELLUM_TEST_LIMITS asks for. Made at the first call, gone after
// the last test.
const std::shared_ptr<gpu::Context>& test_context();

// The caps of that device as if it were a GPU of this vendor (0: its own), for the kernels that are chosen
// then. Without cooperative matrices, which would be chosen before them.
DeviceCaps caps_as_gpu(uint32_t vendor = 0);

// The caps; with VELLUM_TEST_LIMITS=in_turn also those of other devices that the driver can stand for, whose
// kernels may be others: of a desktop GPU, and with the limits of Android's baseline of 2022.
std::vector<DeviceCaps> caps_in_turn(const DeviceCaps& caps);

// The options of that context, for tests that want one of their own. A validation message of any context with
// these options fails the test during which it comes; at the end of all tests it fails the program.
gpu::ContextOptions test_context_options();

// Messages of the log since the test began, validation's left out; e.g. to see that a warning was given.
size_t logged_messages_containing(const std::string& part);

// For tests that provoke validation messages: forgets those so far and says how many there were.
size_t take_validation_messages();

}  // namespace vellum::test

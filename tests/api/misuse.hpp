// An application's device, a small model and an input, for tests of what an application may do wrong.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/tensors.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test {

struct Call {
  const char* name;
  std::function<void()> call;
};

class Misuse : public testing::Test {
 protected:
  Misuse() : app(vulkan.get_instance_proc_addr()), device(Device::adopt(app.device(), adopt_options())) {}

  static Tensor input() { return random_tensor({1, 3, 9, 11}, 1); }

  Interposer vulkan;
  VulkanApp app;
  Device device;
  Model model = load(small_model());
  std::string bytes = small_model().bytes();
};

}  // namespace vellum::test

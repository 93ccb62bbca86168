// A device whose Vulkan calls go through an Interposer.
#pragma once

#include <memory>

#include "support/gpu_test.hpp"
#include "vulkan/interposer.hpp"

namespace vellum::test {

inline std::shared_ptr<gpu::Context> interposed_context(const Interposer& vulkan) {
  gpu::ContextOptions options = test_context_options();
  options.get_instance_proc_addr = vulkan.get_instance_proc_addr();
  return gpu::Context::create(options);
}

}  // namespace vellum::test

// A layer between Vellum and the Vulkan loader that makes a device slow: dispatches take as long as a test
// says, by a clock of the layer's own, and pipelines take long to compile.
#pragma once

#include <vulkan/vulkan_core.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace vellum::test {

// The device works on one submit after the other. Each takes the sum of its dispatches; its fence is done
// when that time is over and the real device has done it as well.
//
//   now          begin = max(now, end of the submit before)     end
//    |-- backlog of earlier submits --|------- dispatches -------|
//
// Vulkan's functions have no user pointer, so the state is global; only one SlowDevice exists at a time.
class SlowDevice {
 public:
  SlowDevice();
  ~SlowDevice();
  SlowDevice(const SlowDevice&) = delete;
  SlowDevice& operator=(const SlowDevice&) = delete;

  // For VulkanPhysicalDevice::get_instance_proc_addr.
  PFN_vkGetInstanceProcAddr get_instance_proc_addr() const;

  // The milliseconds of the dispatches that are recorded from now on, by their debug labels: of several with
  // one label in order, from the first again after the last. Others take none.
  void slow_dispatches(std::map<std::string, std::vector<double>> milliseconds);
  // How long each pipeline takes besides.
  void slow_pipelines(std::chrono::milliseconds each);

  // The times of all submits with such dispatches, since the last call of forget_submits().
  std::vector<double> submitted_milliseconds() const;
  // The longest that another user of the queue waited who submitted right after one of them.
  double largest_wait_milliseconds() const;
  void forget_submits();
  // Waits for fences that were not done yet, with a timeout above 0.
  uint32_t blocking_waits() const;
  uint32_t pipelines_begun() const;
};

}  // namespace vellum::test

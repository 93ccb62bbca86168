// A layer between Vellum and the Vulkan loader that makes one call of one function fail, and counts the
// objects that are alive.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace vellum::test {

// The n-th call of the function, from 1, returns `result` and does nothing else.
struct Fault {
  std::string function;
  uint32_t call = 1;
  VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
};

// As Interposer, its state is global; only one of either exists at a time.
class FaultLayer {
 public:
  FaultLayer();
  ~FaultLayer();
  FaultLayer(const FaultLayer&) = delete;
  FaultLayer& operator=(const FaultLayer&) = delete;

  // For ContextOptions::get_instance_proc_addr.
  PFN_vkGetInstanceProcAddr get_instance_proc_addr() const;

  // The errors that each function may return.
  static const std::vector<Fault>& possible_faults();

  // Starts to count calls anew. With a fault, it happens once.
  void start(const std::optional<Fault>& fault = std::nullopt);
  bool happened() const;                              // the fault since start()
  uint32_t calls(const std::string& function) const;  // since start()
  // Vulkan objects that were made and not destroyed, by kind; kinds without any are left out.
  std::map<std::string, int64_t> live_objects() const;
};

}  // namespace vellum::test

#include "support/gpu_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#if defined(__linux__)
#include <dlfcn.h>
#endif

#include "caps/device_caps.hpp"
#include "caps/vendors.hpp"
#include "caps_file/caps_json.hpp"
#include "cost/device_traits.hpp"
#include "support/environment.hpp"
#include "worst_device/worst_device.hpp"

// The layer's own objects refer to each other in circles; objects of ours that were not destroyed, it reports
// itself.
extern "C" const char* __lsan_default_suppressions() { return "leak:libVkLayer_khronos_validation.so\n"; }

namespace vellum::test {
namespace {

struct Messages {
  std::mutex mutex;
  std::vector<std::string> validation, other;
};

Messages& messages() {
  static Messages all;
  return all;
}

std::shared_ptr<gpu::Context>& shared_context() {
  static std::shared_ptr<gpu::Context> context;
  return context;
}

class MessagesFailTests : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override {
    const std::lock_guard lock(messages().mutex);
    messages().other.clear();
  }
  void OnTestEnd(const ::testing::TestInfo&) override { fail_on_messages(); }
  // After this nothing of the driver is left; static destructors would come too late for the validation
  // layer.
  void OnEnvironmentsTearDownStart(const ::testing::UnitTest&) override {
    shared_context().reset();
    fail_on_messages();
  }

  static void fail_on_messages() {
    const std::lock_guard lock(messages().mutex);
    for (const std::string& message : messages().validation) ADD_FAILURE() << message;
    messages().validation.clear();
  }
};

// Mesa's lavapipe leaks 128 bytes from a library that it unloads, where LeakSanitizer cannot name them: keep
// it loaded.
void keep_driver_loaded() {
#if defined(__linux__)
  dlopen("libvulkan_lvp.so", RTLD_NOW | RTLD_NODELETE);
#endif
}

void listen_once() {
  [[maybe_unused]] static const bool listening = [] {
    keep_driver_loaded();
    ::testing::UnitTest::GetInstance()->listeners().Append(new MessagesFailTests);
    return true;
  }();
}

// The kernels for GPUs are right on drivers that run on the CPU, too.
DeviceCaps taken_for_a_gpu(DeviceCaps caps) {
  caps.type = DeviceType::discrete_gpu;
  caps.exact_division = false;
  set_default_traits(caps);
  return caps;
}

// With MoltenVK's limits and features on an Apple M1, where the driver has no less, and the kernels for it.
DeviceCaps taken_for_moltenvk(const DeviceCaps& caps) {
  const std::filesystem::path file =
      std::filesystem::path(std::getenv("VELLUM_TEST_SOURCE")).parent_path() / "caps/moltenvk_apple_m1.json";
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  const DeviceCaps profile = caps_from_json(text.str(), file.string());
  DeviceCaps clamped = clamp_to(caps, profile);
  clamped.type = profile.type;
  clamped.vendor_id = profile.vendor_id;
  clamped.declares_inf_nan_preserve = profile.declares_inf_nan_preserve;
  clamped.portability_driver = profile.portability_driver;
  set_default_traits(clamped);
  return clamped;
}

// Limits that GPUs of phones and small boards report, and the kernels that Vellum chooses for their vendors.
struct SmallGpu {
  const char* name;
  uint32_t vendor;
  uint32_t texel_elements, images_3d, shared_bytes, storage_images, invocations;
};
constexpr uint32_t kBroadcom = 0x14E4, kSamsung = 0x144D;
constexpr SmallGpu kSmallGpus[] = {
    {"adreno", kQualcomm, 65536, 2048, 32768, 4, 1024},    {"mali", kArm, 65536, 256, 32768, 4, 512},
    {"powervr", kImagination, 65536, 2048, 16384, 4, 512}, {"v3d", kBroadcom, 65536, 256, 16384, 4, 256},
    {"xclipse", kSamsung, 65536, 2048, 32768, 4, 1024},
};

DeviceCaps taken_for(const SmallGpu& gpu, DeviceCaps caps) {
  const auto clamp = [](uint32_t& limit, uint32_t most) { limit = std::min(limit, most); };
  clamp(caps.max_texel_buffer_elements, gpu.texel_elements);
  clamp(caps.max_image_dimension_3d, gpu.images_3d);
  clamp(caps.max_shared_memory_bytes, gpu.shared_bytes);
  clamp(caps.max_storage_images_per_stage, gpu.storage_images);
  clamp(caps.max_workgroup_invocations, gpu.invocations);
  for (uint32_t& side : caps.max_workgroup_size) clamp(side, gpu.invocations);
  caps.type = DeviceType::integrated_gpu;
  caps.vendor_id = gpu.vendor;
  set_default_traits(caps);
  return caps;
}

// With loops that end so early that small tensors take the kernels of large ones.
DeviceCaps with_short_loops(DeviceCaps caps) {
  caps.max_loop_iterations = 100;
  return caps;
}

std::function<DeviceCaps(const DeviceCaps&)> limits_from_environment() {
  const char* limits = std::getenv("VELLUM_TEST_LIMITS");
  if (!limits || !*limits || std::string_view(limits) == "in_turn") return nullptr;
  if (std::string_view(limits) == "android_baseline_2022") return clamp_to_android_baseline_2022;
  if (std::string_view(limits) == "as_gpu") return taken_for_a_gpu;
  if (std::string_view(limits) == "moltenvk") return taken_for_moltenvk;
  if (std::string_view(limits) == "short_loops") return with_short_loops;
  for (const SmallGpu& gpu : kSmallGpus)
    if (std::string_view(limits) == gpu.name)
      return [&gpu](const DeviceCaps& caps) { return taken_for(gpu, caps); };
  throw std::runtime_error(std::string("VELLUM_TEST_LIMITS has no meaning: ") + limits);
}

}  // namespace

DeviceCaps caps_as_gpu(uint32_t vendor) {
  DeviceCaps caps = test_context()->caps();
  caps.type = DeviceType::discrete_gpu;
  if (vendor) caps.vendor_id = vendor;
  caps.cooperative_matrices.clear();
  return caps;
}

std::vector<DeviceCaps> caps_to_test(const DeviceCaps& caps) {
  const char* limits = std::getenv("VELLUM_TEST_LIMITS");
  if (!limits || std::string_view(limits) != "in_turn") return {caps};
  std::vector<DeviceCaps> all{caps, clamp_to_android_baseline_2022(caps)};
  if (caps.type == DeviceType::cpu) all.push_back(taken_for_a_gpu(caps));
  return all;
}

gpu::ContextOptions test_context_options() {
  listen_once();
  gpu::ContextOptions options;
  options.validation = with_validation();
  options.adjust_caps = limits_from_environment();
  use_worst_device(options);
  options.log = [](LogLevel, std::string_view message) {
    // GPU-assisted validation says that it cannot check something on this device: no error.
    if (message.find("UNASSIGNED-GPU-Assisted Validation Warning") != message.npos) return;
    const std::lock_guard lock(messages().mutex);
    (message.starts_with(gpu::kValidationPrefix) ? messages().validation : messages().other)
        .emplace_back(message);
  };
  return options;
}

const std::shared_ptr<gpu::Context>& test_context() {
  if (!shared_context()) shared_context() = gpu::Context::create(test_context_options());
  return shared_context();
}

size_t logged_messages_containing(const std::string& part) {
  const std::lock_guard lock(messages().mutex);
  return static_cast<size_t>(std::ranges::count_if(
      messages().other, [&](const std::string& message) { return message.find(part) != message.npos; }));
}

size_t pop_validation_messages() {
  const std::lock_guard lock(messages().mutex);
  const size_t count = messages().validation.size();
  messages().validation.clear();
  return count;
}

}  // namespace vellum::test

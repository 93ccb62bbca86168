// Devices of the application's: what Vellum asks for, and what it does with what it gets.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <utility>

#include "glslang_tables.hpp"
#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/environment.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test {
namespace {

Tensor run_small_model(const Device& device) {
  Session session(device, load(small_model()));
  return session.run({{"x", random_tensor({1, 3, 9, 11}, 4)}}).at("y");
}

const Tensor& expected() {
  static const Tensor output = run_small_model(Device::open(device_options()));
  return output;
}

// Counts what is allocated and not freed yet; Vulkan frees with the callbacks that it allocated with.
struct CountingCallbacks {
  static constexpr size_t kAlignment = 64;  // more than drivers ask for
  std::atomic<uint64_t> made{0};
  std::atomic<int64_t> live{0};
  VkAllocationCallbacks callbacks{this, allocate, reallocate, release, nullptr, nullptr};

  static VKAPI_ATTR void* VKAPI_CALL allocate(void* user, size_t bytes, size_t alignment,
                                              VkSystemAllocationScope) {
    auto& self = *static_cast<CountingCallbacks*>(user);
    ++self.made, ++self.live;
    EXPECT_LE(alignment, kAlignment);
    return ::operator new(bytes, std::align_val_t(kAlignment), std::nothrow);
  }
  static VKAPI_ATTR void* VKAPI_CALL reallocate(void* user, void* old, size_t bytes, size_t alignment,
                                                VkSystemAllocationScope scope) {
    if (old) ADD_FAILURE() << "no driver of these tests reallocates";
    return allocate(user, bytes, alignment, scope);
  }
  static VKAPI_ATTR void VKAPI_CALL release(void* user, void* memory) {
    if (memory) --static_cast<CountingCallbacks*>(user)->live;
    ::operator delete(memory, std::align_val_t(kAlignment));
  }
};

TEST(Adopt, MakesNeitherInstanceNorDeviceAndDestroysNeither) {
  const Tensor& want = expected();
  Interposer vulkan;
  VulkanApp app(vulkan.get_instance_proc_addr());
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(same_bits(run_small_model(Device::adopt(app.device(), adopt_options())), want));
  EXPECT_EQ(vulkan.instances_made(), 0u);
  EXPECT_EQ(vulkan.devices_made(), 0u);
  EXPECT_GT(vulkan.submits(), 0u) << "the count counts";
  app.handle().waitIdle();  // the device still works
}

TEST(Adopt, HasTheCapsOfADeviceThatVellumOpens) {
  const DeviceInfo want = Device::open(device_options()).info();
  Interposer vulkan;
  for (const bool own_structures : {false, true}) {
    VulkanApp app(vulkan.get_instance_proc_addr(), {.own_structures = own_structures});
    const DeviceInfo info = Device::adopt(app.device(), adopt_options()).info();
    EXPECT_EQ(info.uuid, want.uuid);
    EXPECT_EQ(info.name, want.name);
    EXPECT_EQ(info.driver, want.driver);
    EXPECT_EQ(info.api_version, want.api_version);
    EXPECT_EQ(info.fp16_arithmetic, want.fp16_arithmetic);
    EXPECT_EQ(info.subgroup_size, want.subgroup_size);
    EXPECT_EQ(info.cooperative_matrices, want.cooperative_matrices);
  }
}

TEST(Adopt, WorksWithoutAnythingOptional) {
  const Tensor& want = expected();
  Interposer vulkan;
  for (const uint32_t api_version : {VK_API_VERSION_1_1, VK_API_VERSION_1_3}) {
    VulkanApp app(vulkan.get_instance_proc_addr(), {.api_version = api_version, .wanted_by_vellum = false});
    const Device device = Device::adopt(app.device(), adopt_options());
    EXPECT_FALSE(device.info().fp16_arithmetic);
    EXPECT_EQ(device.info().subgroup_size, 0u);
    EXPECT_TRUE(device.info().cooperative_matrices.starts_with("no")) << device.info().cooperative_matrices;
    EXPECT_LT(distance(run_small_model(device), want), 1e-5);
  }
}

TEST(Adopt, UsesNoFeatureThatTheApplicationLeftOff) {
  Interposer vulkan;
  VulkanApp app(vulkan.get_instance_proc_addr(),
                {.own_structures = true, .adjust = [](AppFeatures& features, auto&) {
                   features.core12.shaderFloat16 = VK_FALSE;
                   features.core13.computeFullSubgroups = VK_FALSE;
                   features.core13.maintenance4 = VK_FALSE;
                 }});
  const Device device = Device::adopt(app.device(), adopt_options());
  EXPECT_FALSE(device.info().fp16_arithmetic);
  EXPECT_EQ(device.info().subgroup_size, 0u);
  run_small_model(device);  // without maintenance4 objects are made to learn their size
}

TEST(Adopt, RequirementsNameWhatIsEnabled) {
  Interposer vulkan;
  VulkanApp app(vulkan.get_instance_proc_addr(), {.own_structures = true});
  const DeviceRequirements wants = Device::requirements(app.physical());
  EXPECT_LT(wants.compute_family(), app.physical_handle().getQueueFamilyProperties().size());
  const auto has_feature = [&](std::string_view name) {
    return std::ranges::any_of(wants.uses(), [&](const DeviceUse& use) {
      return !use.required && !use.purpose.empty() &&
             std::ranges::find(use.features, name) != use.features.end();
    });
  };
  vk::PhysicalDeviceVulkan11Features core11;
  vk::PhysicalDeviceVulkan12Features core12;
  vk::PhysicalDeviceVulkan13Features core13;
  core11.pNext = &core12;
  core12.pNext = &core13;
  EXPECT_NE(wants.enable_features(&core11), nullptr);
  EXPECT_EQ(has_feature("storageBuffer16BitAccess"), core11.storageBuffer16BitAccess == VK_TRUE);
  EXPECT_EQ(has_feature("shaderFloat16"), core12.shaderFloat16 == VK_TRUE);
  EXPECT_EQ(has_feature("shaderIntegerDotProduct"), core13.shaderIntegerDotProduct == VK_TRUE);
  EXPECT_TRUE(std::ranges::none_of(wants.uses(), &DeviceUse::required));
}

TEST(Adopt, RefusesADeviceWithoutWhatIsRequiredByName) {
  Interposer vulkan;
  VulkanApp app(vulkan.get_instance_proc_addr());
  vulkan.make_portability_device();
  const DeviceRequirements wants = Device::requirements(app.physical());
  ASSERT_TRUE(std::ranges::any_of(wants.uses(), &DeviceUse::required));
  EXPECT_EQ(std::string_view(wants.extensions().front()), "VK_KHR_portability_subset");
  EXPECT_VELLUM_ERROR(Device::adopt(app.device(), adopt_options()), ErrorCode::unsupported,
                      "without the extension VK_KHR_portability_subset");
}

TEST(Adopt, RefusesWhatCannotWork) {
  Interposer vulkan;
  VulkanApp app(vulkan.get_instance_proc_addr());
  const auto refused = [&](ErrorCode code, const char* text, auto&& change, DeviceOptions options = {}) {
    VulkanDevice device = app.device();
    change(device, options);
    EXPECT_VELLUM_ERROR(Device::adopt(device, options), code, text);
  };
  using Change = VulkanDevice;
  const ErrorCode invalid = ErrorCode::invalid_argument;
  refused(invalid, "get_instance_proc_addr is null",
          [](Change& device, auto&) { device.physical.get_instance_proc_addr = nullptr; });
  refused(invalid, "instance is null", [](Change& device, auto&) { device.physical.instance = nullptr; });
  refused(invalid, "physical_device is null",
          [](Change& device, auto&) { device.physical.physical_device = nullptr; });
  refused(invalid, "VulkanDevice::device is null", [](Change& device, auto&) { device.device = nullptr; });
  refused(invalid, "VulkanDevice::compute.queue is null",
          [](Change& device, auto&) { device.compute.queue = nullptr; });
  refused(invalid, "queue families", [](Change& device, auto&) { device.compute.family = 99; });
  refused(invalid, "VulkanDevice::compute has one callback of two",
          [](Change& device, auto&) { device.compute.lock = [] {}; });
  refused(invalid, "VulkanDevice::compute has one callback of two",
          [](Change& device, auto&) { device.compute.unlock = [] {}; });
  refused(invalid, "VulkanDevice::transfer has one callback of two", [](Change& device, auto&) {
    device.transfer = device.compute;
    device.transfer->lock = [] {};
  });
  const char* const names[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME, nullptr};
  refused(invalid, "VulkanDevice::extensions: name 1 is null",
          [&](Change& device, auto&) { device.extensions = names; });
  refused(invalid, "VulkanDevice::extensions is null", [](Change& device, auto&) {
    device.extensions = std::span(static_cast<const char* const*>(nullptr), 2);
  });
  refused(ErrorCode::unsupported, "Vulkan 1.0",
          [](Change& device, auto&) { device.physical.api_version = VK_API_VERSION_1_0; });
  refused(invalid, "DeviceOptions::device", [](Change&, DeviceOptions& options) { options.device = "0"; });
  refused(invalid, "validation", [](Change&, DeviceOptions& options) { options.validation = true; });
}

TEST(Adopt, RefusesQueuesThatDoNotCompute) {
  Interposer vulkan;
  VulkanApp app(vulkan.get_instance_proc_addr());
  vulkan.add_transfer_queue();
  VulkanDevice device = app.device();
  device.compute.family = static_cast<uint32_t>(app.physical_handle().getQueueFamilyProperties().size());
  EXPECT_VELLUM_ERROR(Device::adopt(device, adopt_options()), ErrorCode::invalid_argument,
                      "does not compute");
}

TEST(Adopt, LocksTheQueueAroundEachUse) {
  Interposer vulkan;
  VulkanApp app(vulkan.get_instance_proc_addr());
  std::mutex mutex;
  std::atomic<uint32_t> locks{0}, unlocks{0};
  VulkanDevice mine = app.device();
  mine.compute.lock = [&] {
    mutex.lock();
    ++locks;
  };
  mine.compute.unlock = [&] {
    ++unlocks;
    mutex.unlock();
  };
  const Device device = Device::adopt(mine, adopt_options());
  const vk::raii::CommandBuffer commands = app.make_commands();
  commands.begin(vk::CommandBufferBeginInfo());
  commands.end();
  // The renderer's thread: validation reports two threads in one queue.
  std::atomic<bool> over{false};
  std::thread renderer([&] {
    while (!over) {
      const std::lock_guard lock(mutex);
      app.submit_and_wait(commands);
    }
  });
  for (int i = 0; i < 3; ++i) run_small_model(device);
  over = true;
  renderer.join();
  EXPECT_EQ(locks, unlocks);
  EXPECT_EQ(locks, vulkan.submits());
}

TEST(Adopt, AllocatesWithTheApplicationsCallbacks) {
  if (under_wine()) GTEST_SKIP() << "Wine keeps the callbacks from the driver";
  const Tensor& want = expected();
  Interposer vulkan;
  CountingCallbacks counting;
  VulkanApp app(vulkan.get_instance_proc_addr(), {.allocation_callbacks = &counting.callbacks});
  {
    VulkanDevice mine = app.device();
    VkAllocationCallbacks temporary = counting.callbacks;
    mine.allocation_callbacks = &temporary;
    const Device device = Device::adopt(mine, adopt_options());
    temporary = {};  // they are copied
    EXPECT_TRUE(same_bits(run_small_model(device), want));
    EXPECT_GT(counting.made, 20u);
  }
  EXPECT_EQ(counting.live, 0);
}

// An engine's allocator: parts of one block for each memory type, which it maps itself.
struct BlockAllocator {
  struct Block {
    vk::raii::DeviceMemory memory{nullptr};
    std::byte* mapped = nullptr;
    uint64_t end = 0;
  };
  static constexpr uint64_t kBlock = 8 << 20;

  explicit BlockAllocator(const VulkanApp& of) : app(of) {}

  DeviceMemoryCallbacks callbacks() {
    return {.allocate = [this](VkDeviceSize bytes, uint32_t type,
                               VkDeviceSize alignment) { return allocate(bytes, type, alignment); },
            .free =
                [this](const DeviceMemory& memory) {
                  const std::lock_guard lock(mutex);
                  EXPECT_EQ(live.erase({memory.memory, memory.offset}), 1u) << "freed twice";
                }};
  }

  DeviceMemory allocate(uint64_t bytes, uint32_t type, uint64_t alignment) {
    const std::lock_guard lock(mutex);
    if (refuses) return {};
    Block& block = blocks[type];
    if (!*block.memory) {
      block.memory = vk::raii::DeviceMemory(app.handle(), {kBlock, type});
      block.end = 4096;  // something of the engine's own
      if (app.physical_handle().getMemoryProperties().memoryTypes[type].propertyFlags &
          vk::MemoryPropertyFlagBits::eHostVisible)
        block.mapped = static_cast<std::byte*>(block.memory.mapMemory(0, VK_WHOLE_SIZE));
    }
    const uint64_t offset = (block.end + alignment - 1) / alignment * alignment + shift;
    if (offset + bytes > kBlock) return {};
    block.end = offset + bytes;
    live.insert({*block.memory, offset});
    ++count;
    return {*block.memory, offset, block.mapped ? block.mapped + offset : nullptr};
  }

  const VulkanApp& app;
  std::mutex mutex;
  std::map<uint32_t, Block> blocks;
  std::set<std::pair<VkDeviceMemory, uint64_t>> live;
  uint64_t shift = 0;  // off the alignment
  bool refuses = false;
  int count = 0;
};

TEST(Adopt, TakesAllDeviceMemoryOfTheApplicationsAllocator) {
  const Tensor& want = expected();
  Interposer vulkan;
  VulkanApp app(vulkan.get_instance_proc_addr());
  BlockAllocator engine(app);
  VulkanDevice mine = app.device();
  mine.memory = engine.callbacks();
  {
    const Device device = Device::adopt(mine, adopt_options());
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(same_bits(run_small_model(device), want));
    EXPECT_GT(engine.count, 3);
    EXPECT_EQ(vulkan.allocations(), 0u) << "Vellum calls vkAllocateMemory";
    engine.refuses = true;
    EXPECT_VELLUM_ERROR(run_small_model(device), ErrorCode::out_of_memory, "the application's allocator");
    engine.refuses = false;
    engine.shift = 16;
    EXPECT_VELLUM_ERROR(run_small_model(device), ErrorCode::invalid_argument, "is not a multiple of 65536");
  }
  EXPECT_TRUE(engine.live.empty());
  mine.memory.free = {};
  EXPECT_VELLUM_ERROR(Device::adopt(mine, adopt_options()), ErrorCode::invalid_argument,
                      "one callback of two");
}

TEST(Adopt, SessionsOfTwoAdoptionsWorkBesideEachOther) {
  const Tensor& want = expected();
  Interposer vulkan;
  VulkanApp app(vulkan.get_instance_proc_addr());
  const Device first = Device::adopt(app.device(), adopt_options());
  const Device opened = Device::open(device_options());  // another VkDevice: nothing is global
  Session a(first, load(small_model())), b(first, load(small_model())), c(opened, load(small_model()));
  for (Session* session : {&a, &b, &c, &a})
    EXPECT_TRUE(same_bits(session->run({{"x", random_tensor({1, 3, 9, 11}, 4)}}).at("y"), want));
}

}  // namespace
}  // namespace vellum::test

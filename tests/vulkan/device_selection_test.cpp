#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "support/environment.hpp"
#include "support/gpu_test.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan/kernel_run.hpp"

namespace vellum::gpu {
namespace {

using test::thrown_by;

std::string name_of(const std::string& device) {
  ContextOptions options = test::test_context_options();
  options.device = device;
  return Context::create(options)->caps().name;
}

TEST(DeviceSelection, ListsTheDeviceThatAContextOpensByDefault) {
  const auto devices = list_devices(test::test_context_options());
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(name_of(""), devices[0].caps.name);
}

// Each time the loader loads the driver anew, which some drivers do not survive for long.
TEST(DeviceSelection, DevicesAreListedAgainAndAgain) {
  gpu::ContextOptions options = test::test_context_options();
  options.validation = false;
  for (int i = 0; i < 50; ++i) ASSERT_FALSE(list_devices(options).empty()) << i;
}

TEST(DeviceSelection, ByNumber) {
  EXPECT_EQ(name_of("0"), list_devices(test::test_context_options()).at(0).caps.name);
}

TEST(DeviceSelection, ByPartOfTheNameInAnyCase) {
  const std::string name = list_devices(test::test_context_options()).at(0).caps.name;
  std::string part = name.substr(1, 5);
  std::ranges::transform(part, part.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  EXPECT_EQ(name_of(part), name);
}

TEST(DeviceSelection, ByUuidInAnyCase) {
  const ListedDevice device = list_devices(test::test_context_options()).at(0);
  std::string text = uuid_text(device.identity.uuid);
  ASSERT_EQ(text.size(), 36u);
  ContextOptions options = test::test_context_options();
  options.device = text;
  EXPECT_EQ(Context::create(options)->identity().uuid, device.identity.uuid);
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  EXPECT_EQ(name_of(text), device.caps.name);
  text[0] = text[0] == '0' ? '1' : '0';
  EXPECT_EQ(thrown_by([&] { name_of(text); }).code(), ErrorCode::no_device);
}

TEST(DeviceSelection, UuidsHaveTheirUsualText) {
  const DeviceUuid uuid{0x6d, 0x65, 0x73, 0x61, 0x32, 0x32, 0x2e, 0x33,
                        0x2e, 0x36, 0,    1,    0xab, 0xff, 0x0f, 0x10};
  EXPECT_EQ(uuid_text(uuid), "6d657361-3232-2e33-2e36-0001abff0f10");
}

TEST(DeviceSelection, PrioritiesOfQueuesAreFrom0To1) {
  ContextOptions options = test::test_context_options();
  options.queue_priority = 0.25f;
  EXPECT_NO_THROW(Context::create(options));
  for (const float wrong : {-0.1f, 1.5f, std::numeric_limits<float>::quiet_NaN()}) {
    options.queue_priority = wrong;
    const Error error = thrown_by([&] { Context::create(options); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("priority"), std::string::npos) << error.what();
  }
}

TEST(DeviceSelection, QueuesHaveAPriorityAmongAllProcesses) {
  test::Interposer vulkan;
  vulkan.offer_global_priority();
  ContextOptions options = test::test_context_options();
  options.get_instance_proc_addr = vulkan.get_instance_proc_addr();
  Context::create(options);
  EXPECT_EQ(vulkan.global_priority(), VkQueueGlobalPriorityKHR{});
  options.global_priority = GlobalPriority::low;
  Context::create(options);
  EXPECT_EQ(vulkan.global_priority(), VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR);
  options.global_priority = GlobalPriority::realtime;
  const Error error = thrown_by([&] { Context::create(options); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(std::string(error.what()).find("does not let this user"), std::string::npos) << error.what();
}

TEST(DeviceSelection, ADeviceWithoutGlobalPrioritiesRefusesThem) {
  test::Interposer vulkan;
  vulkan.hide_device_extensions();
  ContextOptions options = test::test_context_options();
  options.get_instance_proc_addr = vulkan.get_instance_proc_addr();
  options.global_priority = GlobalPriority::low;
  const Error error = thrown_by([&] { Context::create(options); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(std::string(error.what()).find("VK_KHR_global_priority"), std::string::npos) << error.what();
}

TEST(DeviceSelection, AMissingNameIsAnErrorThatListsWhatThereIs) {
  const Error error = thrown_by([] { name_of("Voodoo 2"); });
  EXPECT_EQ(error.code(), ErrorCode::no_device);
  EXPECT_NE(std::string(error.what()).find("Voodoo 2"), std::string::npos);
  EXPECT_NE(std::string(error.what()).find(list_devices().at(0).caps.name), std::string::npos);
}

TEST(DeviceSelection, ANumberPastTheEndIsAnError) {
  EXPECT_EQ(thrown_by([] { name_of("99"); }).code(), ErrorCode::no_device);
  EXPECT_EQ(thrown_by([] { name_of("99999999999999999999999"); }).code(), ErrorCode::no_device);
}

TEST(DeviceSelection, NoDeviceAtAllIsAnErrorAndAnEmptyList) {
  test::Interposer vulkan;
  vulkan.hide_devices();
  ContextOptions options = test::test_context_options();
  options.get_instance_proc_addr = vulkan.get_instance_proc_addr();
  EXPECT_TRUE(list_devices(options).empty());
  EXPECT_EQ(thrown_by([&] { Context::create(options); }).code(), ErrorCode::no_device);
}

TEST(DeviceSelection, NoDriverAtAllIsAnErrorAndAnEmptyList) {
  for (const bool validation : {false, test::with_validation()}) {
    test::Interposer vulkan;
    vulkan.hide_drivers();
    ContextOptions options = test::test_context_options();
    options.validation = validation;
    options.get_instance_proc_addr = vulkan.get_instance_proc_addr();
    EXPECT_TRUE(list_devices(options).empty());
    const Error error = thrown_by([&] { Context::create(options); });
    EXPECT_EQ(error.code(), ErrorCode::no_device);
    EXPECT_NE(std::string(error.what()).find("install"), std::string::npos) << error.what();
  }
}

TEST(DeviceSelection, ListingAsksForNoCooperativeMatrices) {
  ContextOptions options = test::test_context_options();
  options.adjust_caps = nullptr;
  for (const ListedDevice& device : list_devices(options))
    EXPECT_EQ(device.caps.cooperative_obstacle, "unknown before the device is opened");
  EXPECT_EQ(Context::create(options)->device_caps().cooperative_obstacle.find("unknown"), std::string::npos);
}

// As MoltenVK does.
TEST(DeviceSelection, DriversOfThePortabilitySubsetAreListedAndOpened) {
  test::Interposer vulkan;
  vulkan.make_portability_device();
  ContextOptions options = test::test_context_options();
  options.get_instance_proc_addr = vulkan.get_instance_proc_addr();
  ASSERT_EQ(list_devices(options).size(), 1u);
  const auto context = Context::create(options);
  EXPECT_EQ(context->caps().name, list_devices(options)[0].caps.name);
  EXPECT_TRUE(context->device_caps().portability_driver);
}

// Both drivers for CPUs have it, and SwiftShader compiles better without (driver_quirks.cpp). The limits of a
// profile may be less (VELLUM_TEST_LIMITS).
TEST(DeviceSelection, DriversAreToldToPreserveNaN) {
  ContextOptions options = test::test_context_options();
  options.adjust_caps = nullptr;
  EXPECT_EQ(Context::create(options)->device_caps().declares_inf_nan_preserve, !test::on_swiftshader());
}

TEST(DeviceSelection, ALoaderOfVulkan10IsAnError) {
  test::Interposer vulkan;
  vulkan.hide_instance_version();
  ContextOptions options = test::test_context_options();
  options.get_instance_proc_addr = vulkan.get_instance_proc_addr();
  const Error error = thrown_by([&] { Context::create(options); });
  EXPECT_EQ(error.code(), ErrorCode::no_device);
  EXPECT_NE(std::string(error.what()).find("1.1"), std::string::npos);
}

TEST(DeviceSelection, CapsAreNoLessThanVulkanPromises) {
  const DeviceCaps& caps = test::test_context()->device_caps();
  const DeviceCaps baseline;
  EXPECT_GE(caps.max_image_dimension_2d, baseline.max_image_dimension_2d);
  EXPECT_GE(caps.max_storage_buffers_per_stage, baseline.max_storage_buffers_per_stage);
  EXPECT_GE(caps.max_workgroup_invocations, baseline.max_workgroup_invocations);
  EXPECT_GE(caps.max_shared_memory_bytes, baseline.max_shared_memory_bytes);
  EXPECT_LE(caps.min_storage_buffer_offset_alignment, baseline.min_storage_buffer_offset_alignment);
  EXPECT_GE(caps.api_version, uint32_t{VK_API_VERSION_1_1});
  EXPECT_TRUE(caps.rgba32f_images);
#if !defined(__aarch64__)  // lavapipe's compiler fails there (apply_driver_quirks)
  EXPECT_EQ(caps.rgba16f_images, !test::on_swiftshader());
#endif
  EXPECT_FALSE(caps.name.empty() || caps.driver.empty());
}

TEST(DeviceSelection, CallersLimitsReplaceTheDevices) {
  ContextOptions options = test::test_context_options();
  options.adjust_caps = clamp_to_android_baseline_2022;
  const auto context = Context::create(options);
  EXPECT_EQ(context->caps().max_storage_images_per_stage, 4u);
  EXPECT_EQ(context->caps().max_workgroup_invocations, 128u);
  EXPECT_FALSE(context->caps().fp16_arithmetic);
  EXPECT_GE(context->device_caps().max_storage_images_per_stage, 4u);
}

}  // namespace
}  // namespace vellum::gpu

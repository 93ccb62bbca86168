#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

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
  EXPECT_EQ(name_of(""), devices[0].name);
}

TEST(DeviceSelection, ByNumber) {
  EXPECT_EQ(name_of("0"), list_devices(test::test_context_options()).at(0).name);
}

TEST(DeviceSelection, ByPartOfTheNameInAnyCase) {
  const std::string name = list_devices(test::test_context_options()).at(0).name;
  std::string part = name.substr(1, 5);
  std::ranges::transform(part, part.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  EXPECT_EQ(name_of(part), name);
}

TEST(DeviceSelection, AMissingNameIsAnErrorThatListsWhatThereIs) {
  const Error error = thrown_by([] { name_of("Voodoo 2"); });
  EXPECT_EQ(error.code(), ErrorCode::no_device);
  EXPECT_NE(std::string(error.what()).find("Voodoo 2"), std::string::npos);
  EXPECT_NE(std::string(error.what()).find(list_devices().at(0).name), std::string::npos);
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
  for (const bool validation : {false, true}) {
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

// As MoltenVK does.
TEST(DeviceSelection, DriversOfThePortabilitySubsetAreListedAndOpened) {
  test::Interposer vulkan;
  vulkan.make_portability_device();
  ContextOptions options = test::test_context_options();
  options.get_instance_proc_addr = vulkan.get_instance_proc_addr();
  ASSERT_EQ(list_devices(options).size(), 1u);
  EXPECT_EQ(Context::create(options)->caps().name, list_devices(options)[0].name);
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
  EXPECT_TRUE(caps.rgba16f_images && caps.rgba32f_images);
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

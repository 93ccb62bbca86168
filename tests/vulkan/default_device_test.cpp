// Which of several devices is chosen; described here, since a machine seldom has one of each kind.
#include <gtest/gtest.h>

#include "vulkan/kernel_run.hpp"
#include "vulkan/physical_device.hpp"

namespace vellum::gpu {
namespace {

PhysicalDevice device(const std::string& name, DeviceType type) {
  PhysicalDevice described;
  described.caps.name = name;
  described.caps.type = type;
  return described;
}

std::string chosen(const std::vector<DeviceType>& types, const std::string& wanted = "") {
  std::vector<PhysicalDevice> devices;
  for (size_t i = 0; i < types.size(); ++i)
    devices.push_back(device("Card 40" + std::to_string(i), types[i]));
  return select_device(std::move(devices), wanted).caps.name;
}

TEST(DefaultDevice, DiscreteThenIntegratedThenVirtualThenCpu) {
  using enum DeviceType;
  EXPECT_EQ(chosen({cpu, virtual_gpu, integrated_gpu, discrete_gpu, other, discrete_gpu}), "Card 403");
  EXPECT_EQ(chosen({cpu, virtual_gpu, integrated_gpu, other}), "Card 402");
  EXPECT_EQ(chosen({other, cpu, virtual_gpu}), "Card 402");
  EXPECT_EQ(chosen({other, cpu}), "Card 401");
  EXPECT_EQ(chosen({other}), "Card 400");
}

TEST(DefaultDevice, ANumberIsAnIndexIfThereIsSuchADeviceElsePartOfAName) {
  using enum DeviceType;
  EXPECT_EQ(chosen({discrete_gpu, cpu, cpu}, "2"), "Card 402");
  EXPECT_EQ(chosen({discrete_gpu, cpu, cpu}, "401"), "Card 401");
  EXPECT_EQ(chosen({discrete_gpu, cpu, cpu}, "cARD"), "Card 400");
}

TEST(DefaultDevice, NoneMatchingListsAll) {
  const std::string message = test::thrown_by([] {
                                chosen({DeviceType::cpu, DeviceType::cpu}, "Radeon");
                              }).what();
  EXPECT_NE(message.find("0: Card 400, 1: Card 401"), std::string::npos) << message;
}

}  // namespace
}  // namespace vellum::gpu

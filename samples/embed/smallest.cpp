// The smallest program that runs a network on a Vulkan device of its own: smallest MODEL.onnx
#include <cstdio>
#include <exception>
#include <utility>
#include <vellum/vellum.hpp>
#include <vellum/vulkan.hpp>
#include <vulkan/vulkan_raii.hpp>

int main(int, char** arguments) try {
  const vk::raii::Context loader;
  const vk::ApplicationInfo application("smallest", 1, "engine", 1, VK_API_VERSION_1_1);
  const vk::raii::Instance instance(loader, vk::InstanceCreateInfo({}, &application));
  const vk::raii::PhysicalDevice gpu = std::move(vk::raii::PhysicalDevices(instance).front());

  const vellum::VulkanPhysicalDevice physical{loader.getDispatcher()->vkGetInstanceProcAddr, *instance,
                                              VK_API_VERSION_1_1, *gpu};
  const vellum::DeviceRequirements wants = vellum::Device::requirements(physical);
  const uint32_t family = wants.compute_family();
  void* const features = wants.enable_features(nullptr);  // an application adds its own, and extensions

  const float priority = 1;
  const vk::DeviceQueueCreateInfo queue_info({}, family, 1, &priority);
  vk::DeviceCreateInfo device_info({}, queue_info, {}, wants.extensions());
  const vk::raii::Device device(gpu, device_info.setPNext(features));
  const vk::raii::Queue queue(device, family, 0);

  const vellum::Device adopted = vellum::Device::adopt({.physical = physical,
                                                        .device = *device,
                                                        .compute = {*queue, family},
                                                        .extensions = wants.extensions(),
                                                        .features = features});
  vellum::Session session(adopted, vellum::Model::load(arguments[1]));
  const vellum::TensorInfo& input = session.inputs()[0];
  const vellum::Tensor image(input.dtype, input.shape);  // zeros; fill it through mutable_as<float>()
  for (const auto& [name, output] : session.run({{input.name, image}}))
    std::printf("%s %s\n", name.c_str(), vellum::to_string(output.shape()).c_str());
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

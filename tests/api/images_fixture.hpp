// What tests of the application's images share: uploads and downloads, models, and a device that the
// application owns.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "public_interface.hpp"
#include "vellum/frame.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test::images {

using Access = vk::AccessFlagBits;
using Aspect = vk::ImageAspectFlagBits;
using Layout = vk::ImageLayout;
using Stage = vk::PipelineStageFlagBits;
using Usage = vk::ImageUsageFlagBits;

// The size of frames and of pictures.
constexpr uint32_t kWidth = 64, kHeight = 36;

// One plane of an image in a buffer, without padding.
struct Plane {
  vk::ImageAspectFlags aspect;
  uint64_t offset;
  uint32_t width, height;
};
Plane whole(const AppImage& image);
vk::BufferImageCopy region(const Plane& plane);

// When an image is used and how.
struct ImageUse {
  Layout layout;
  vk::PipelineStageFlags stages;
  vk::AccessFlags access = {};
};
void transition(const vk::raii::CommandBuffer& commands, const AppImage& image, const ImageUse& before,
                const ImageUse& after);
// Makes what a stage wrote to buffers visible to the host.
void make_visible_to_host(const vk::raii::CommandBuffer& commands, Stage stage, Access written);

// From a buffer to the image, in the layout `to` for compute shaders afterwards.
void upload(const vk::raii::CommandBuffer& commands, const AppBuffer& from, const AppImage& image,
            std::span<const Plane> planes, Layout to);
// From the image that a compute shader wrote to a buffer for the host.
void download(const vk::raii::CommandBuffer& commands, const AppImage& image, const AppBuffer& to);
// For the writes of a compute shader; the content is dead.
void make_general(const vk::raii::CommandBuffer& commands, const AppImage& image);

ImageBinding binding(std::string_view name, const AppImage& image, Layout layout = Layout::eGeneral);

Tensor random_bytes(uint64_t count, uint32_t seed);
std::span<const std::byte> bytes_of(const Tensor& tensor);

// A frame of which the network sees a rotated part.
FrameInput camera(FrameFormat format);
// The frame as the network's whole input.
FrameInput whole_frame();

// A network whose output is its input, unchanged, in 0..255.
OnnxModel pixels_model(int64_t channels = 3);
// A filter of 3x3 over a picture of kHeight x kWidth, in 0..1.
OnnxModel filter_model(int64_t channels);

// A device of the application, which Vellum adopts.
class Images : public testing::Test {
 protected:
  explicit Images(const AppOptions& options = {});

  AppBuffer host_buffer(uint64_t bytes);
  bool on_swiftshader_device() const;
  // One inference of a model with the input x and the output y, from an image of these bytes.
  Tensor run_from_image(Session& session, const AppImage& image, std::span<const std::byte> bytes,
                        std::span<const Plane> planes, Layout layout);
  // The same from an image of one plane.
  Tensor run_from_image(Session& session, vk::Format format, std::span<const std::byte> bytes,
                        Layout layout = Layout::eGeneral);

  Interposer vulkan;
  VulkanApp app;
  Device device;
};

}  // namespace vellum::test::images

// An application with its device, its buffers and its barriers, for the tests of recorded inferences.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "device_options.hpp"
#include "public_interface.hpp"
#include "support/tensors.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test::recording {

constexpr VkBufferUsageFlags kTransfers = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;

inline void barrier(const vk::raii::CommandBuffer& commands, vk::PipelineStageFlags from,
                    vk::AccessFlags written, vk::PipelineStageFlags to, vk::AccessFlags used) {
  commands.pipelineBarrier(from, to, {}, vk::MemoryBarrier(written, used), {}, {});
}

// After the recorded commands, before the host reads outputs and writes inputs.
inline void barrier_to_host(const vk::raii::CommandBuffer& commands) {
  barrier(commands, vk::PipelineStageFlagBits::eComputeShader, vk::AccessFlagBits::eShaderWrite,
          vk::PipelineStageFlagBits::eHost, vk::AccessFlagBits::eHostRead | vk::AccessFlagBits::eHostWrite);
}

// One inference, between the host's writing of the input and its reading of the output.
inline Recording record_one(Session& session, const vk::raii::CommandBuffer& commands,
                            const BufferBinding& in, const BufferBinding& out) {
  commands.begin(vk::CommandBufferBeginInfo());
  Recording recording = session.record(*commands, {&in, 1}, {&out, 1});
  barrier_to_host(commands);
  commands.end();
  return recording;
}

class Record : public testing::Test {
 protected:
  Record() : app(vulkan.get_instance_proc_addr()), device(adopt()) {}

  Device adopt() { return Device::adopt(app.device(), adopt_options()); }
  AppBuffer buffer_for(const BufferLayout& layout, uint64_t offset = 0) {
    AppBuffer buffer =
        app.make_buffer(offset + layout.bytes, vk::BufferUsageFlags(layout.usage | kTransfers));
    std::memset(buffer.data, 0xff, buffer.bytes);  // NaNs, where padding is read or an output left out
    return buffer;
  }
  static BufferBinding binding(std::string_view name, const AppBuffer& buffer, uint64_t offset = 0) {
    return {name, *buffer.buffer, offset, buffer.bytes - offset};
  }
  static void write(const AppBuffer& buffer, const Tensor& tensor, uint64_t offset = 0) {
    std::memcpy(buffer.data + offset, tensor.data(), tensor.byte_size());
  }
  static Tensor read(const AppBuffer& buffer, const TensorInfo& info, uint64_t offset = 0) {
    Tensor tensor(info.dtype, info.shape);
    std::memcpy(tensor.mutable_data(), buffer.data + offset, tensor.byte_size());
    return tensor;
  }
  static Tensor input(uint32_t seed) { return random_tensor({1, 3, 9, 11}, seed); }

  Interposer vulkan;
  VulkanApp app;
  Device device;
};

}  // namespace vellum::test::recording

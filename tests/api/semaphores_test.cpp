// Submits of Vellum's own in an order with the application's work: semaphores.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "detection_model.hpp"
#include "public_interface.hpp"
#include "small_model.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test {
namespace {

class Semaphores : public testing::Test {
 protected:
  Semaphores() : app(vulkan.get_instance_proc_addr(), with_timeline_semaphores()), device(adopt()) {}

  Device adopt() { return Device::adopt(app.device(), adopt_options()); }
  vk::raii::Semaphore timeline() { return app.make_timeline(); }
  vk::raii::Semaphore binary() { return {app.handle(), vk::SemaphoreCreateInfo()}; }
  void wait_on_host(const vk::raii::Semaphore& semaphore, uint64_t value) {
    const vk::SemaphoreWaitInfo info({}, *semaphore, value);
    ASSERT_EQ(app.handle().waitSemaphores(info, UINT64_MAX), vk::Result::eSuccess);
  }

  // Before objects of a submit are destroyed that only a semaphore told the host about: a thread of lavapipe
  // (Mesa 22.3) still reads the submit's semaphores after it has signalled them.
  void settle() { app.queue().waitIdle(); }

  Interposer vulkan;
  VulkanApp app;
  Device device;
  Tensor x = random_tensor({1, 3, 9, 11}, 1);
};

// The application's copies before and after: its submits wait for Vellum's, and Vellum's for them.
TEST_F(Semaphores, PutASubmitOfVellumsBetweenTheApplications) {
  Session session(device, load(small_model()));
  const Tensor want = session.run({{"x", x}}).at("y");
  const BufferLayout in = session.input_buffer("x"), out = session.output_buffer("y");
  const auto make = [&](const BufferLayout& layout) {
    return app.make_buffer(layout.bytes, vk::BufferUsageFlags(layout.usage) |
                                             vk::BufferUsageFlagBits::eTransferSrc |
                                             vk::BufferUsageFlagBits::eTransferDst);
  };
  const AppBuffer upload = make(in), input = make(in), output = make(out), download = make(out);
  const BufferBinding bound_input{"x", *input.buffer, 0, in.bytes},
      bound_output{"y", *output.buffer, 0, out.bytes};
  const Recording recording = session.bind({&bound_input, 1}, {&bound_output, 1});
  const auto copy = [&](const AppBuffer& from, const AppBuffer& to) {
    vk::raii::CommandBuffer commands = app.make_commands();
    commands.begin(vk::CommandBufferBeginInfo());
    commands.copyBuffer(*from.buffer, *to.buffer, vk::BufferCopy(0, 0, from.bytes));
    commands.pipelineBarrier(
        vk::PipelineStageFlagBits::eTransfer, vk::PipelineStageFlagBits::eHost, {},
        vk::MemoryBarrier(vk::AccessFlagBits::eTransferWrite, vk::AccessFlagBits::eHostRead), {}, {});
    commands.end();
    return commands;
  };
  const vk::raii::CommandBuffer before = copy(upload, input), after = copy(output, download);
  const vk::raii::Semaphore uploaded = binary(), computed = timeline(), done = timeline();
  std::memcpy(upload.data, x.data(), x.byte_size());
  const uint32_t waits = vulkan.waits();
  for (uint64_t frame = 1; frame <= 3; ++frame) {
    std::memset(download.data, 0, download.bytes);
    vk::SubmitInfo first({}, {}, *before, *uploaded);
    app.queue().submit(first);
    const SemaphoreValue wait{*uploaded}, signal{*computed, frame};
    recording.submit({.wait = {&wait, 1}, .signal = {&signal, 1}});
    constexpr vk::PipelineStageFlags stage = vk::PipelineStageFlagBits::eTransfer;
    const vk::TimelineSemaphoreSubmitInfo values(frame, frame);
    vk::SubmitInfo last(*computed, stage, *after, *done);
    app.queue().submit(last.setPNext(&values));
    wait_on_host(done, frame);
    Tensor got(DType::f32, want.shape());
    std::memcpy(got.mutable_data(), download.data, got.byte_size());
    EXPECT_TRUE(same_bits(got, want));
  }
  EXPECT_EQ(vulkan.waits(), waits) << "Vellum waits for nothing";
  settle();
}

TEST_F(Semaphores, OrderRunsWithValuesOfTheHost) {
  for (const uint32_t tasks_per_submit : {0u, 1u}) {
    Session session(device, load(small_model()), {.tasks_per_submit = tasks_per_submit});
    const Tensor want = session.run({{"x", x}}).at("y");
    const vk::raii::Semaphore begin = timeline(), end = timeline(), other = binary();
    Tensor y(DType::f32, want.shape());
    const InputValues in{"x", {x.data(), x.byte_size()}};
    const OutputValues out{"y", {y.mutable_data(), y.byte_size()}};
    const SemaphoreValue wait{*begin, 5};
    const std::array<SemaphoreValue, 2> signal{{{*end, 7}, {*other}}};
    {
      const vellum::Run run = session.submit({&in, 1}, {&out, 1}, {.wait = {&wait, 1}, .signal = signal});
      EXPECT_FALSE(run.done()) << "it waits for the application";
      EXPECT_EQ(end.getCounterValue(), 0u);
      app.handle().signalSemaphore(vk::SemaphoreSignalInfo(*begin, 5));
      run.wait();
    }
    EXPECT_TRUE(same_bits(y, want));
    wait_on_host(end, 7);
    // The binary one was signalled, too: a submit that waits for it is done.
    const vk::raii::CommandBuffer empty = app.make_commands();
    empty.begin(vk::CommandBufferBeginInfo());
    empty.end();
    constexpr vk::PipelineStageFlags stage = vk::PipelineStageFlagBits::eTransfer;
    const vk::raii::Fence fence(app.handle(), vk::FenceCreateInfo());
    app.queue().submit(vk::SubmitInfo(*other, stage, *empty), *fence);
    EXPECT_EQ(app.handle().waitForFences(*fence, VK_TRUE, UINT64_MAX), vk::Result::eSuccess);
  }
}

// The boxes are selected on the host, after the last submit.
TEST_F(Semaphores, AreSignalledByTheLastWorkOnTheDevice) {
  Session session(Device::adopt(app.device()), load(detection_model()));
  const Tensor image = random_tensor({1, 3, 6, 5}, 2);
  const vk::raii::Semaphore end = timeline();
  const InputValues in{"image", {image.data(), image.byte_size()}};
  const SemaphoreValue signal{*end, 3};
  const vellum::Run run = session.submit({&in, 1}, {}, {.signal = {&signal, 1}});
  wait_on_host(end, 3);
  run.wait();
  settle();
}

TEST_F(Semaphores, AreRefusedWhereTheyCannotWork) {
  Session session(device, load(small_model()));
  const InputValues in{"x", {x.data(), x.byte_size()}};
  const SemaphoreValue none{};
  EXPECT_VELLUM_ERROR(session.submit({&in, 1}, {}, {.wait = {&none, 1}}), ErrorCode::invalid_argument,
                      "a semaphore is null");
  EXPECT_VELLUM_ERROR(Recording().submit({}), ErrorCode::invalid_argument, "nothing is bound");
  EXPECT_VELLUM_ERROR(Recording().run(), ErrorCode::invalid_argument, "nothing is bound");
  OnnxModel constant;
  constant.input("x", {1, 3, 9, 11})
      .initializer("w", random_tensor({2}, 1))
      .node("Relu", {"w"}, {"y"}, {}, "relu")
      .output("y");
  Session idle(device, load(constant));
  const vk::raii::Semaphore end = timeline();
  const SemaphoreValue signal{*end, 1};
  EXPECT_VELLUM_ERROR(idle.submit({&in, 1}, {}, {.signal = {&signal, 1}}), ErrorCode::unsupported,
                      "nothing for the device");
  EXPECT_VELLUM_ERROR(idle.output_buffer("y"), ErrorCode::unsupported, "is a constant");
}

}  // namespace
}  // namespace vellum::test

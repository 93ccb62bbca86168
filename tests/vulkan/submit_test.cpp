#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "support/environment.hpp"
#include "support/gpu_test.hpp"
#include "vulkan/buffer.hpp"
#include "vulkan/commands.hpp"
#include "vulkan/kernel_run.hpp"
#include "vulkan/timestamps.hpp"
#include "vulkan/transfer.hpp"

namespace vellum::gpu {
namespace {

using test::run_scale;
using test::test_context;
using test::thrown_by;

TEST(Threads, CompileAndSubmitAtOnce) {
  const auto work = [](int first) {
    for (int i = 0; i < 6; ++i) {
      // Half of the pipelines are the other threads' too.
      const int factor = i % 2 ? 100 + i : first + i;
      const std::vector<float> x{1, 2, 3, 4},
          y = run_scale(test_context(), std::to_string(factor) + ".0", 0, x);
      for (size_t j = 0; j < x.size(); ++j) EXPECT_EQ(y[j], static_cast<float>(factor) * x[j]);
    }
  };
  test_context();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(work, 200 + 10 * i);
}

TEST(Threads, ContextsMayBeMadeAtOnce) {
  const auto work = [] {
    const auto context = Context::create(test::test_context_options());
    EXPECT_EQ(run_scale(context, "2.0", 1, {3}), std::vector<float>{7});
  };
  std::jthread other(work);
  work();
}

// Tens of milliseconds of work on any device, longer than a busy machine may stop the host. Mesa's lavapipe
// ends loops after 65535 rounds, so there are workgroups too.
constexpr uint32_t kSlowGroups = 512;

PipelineKey slow_kernel() {
  PipelineKey key;
  key.shader = "slow";
  key.source = R"(#version 450
layout(local_size_x = WORKGROUP_X) in;
layout(set = 0, binding = 0) buffer Y { float y[]; };
void main() {
  float sum = y[gl_GlobalInvocationID.x];
  for (int i = 0; i < 65000; ++i) sum = sum * 0.999 + 1.0;
  y[gl_GlobalInvocationID.x] = sum;
}
)";
  key.bindings = {BindingType::storage_buffer};
  key.workgroup_size = {1, 1, 1};
  return key;
}

TEST(Fences, WaitingTooLongIsAnErrorAndOneMayWaitAgain) {
  const auto pipeline = test_context()->pipelines().get(slow_kernel());
  const Buffer buffer =
      make_buffer(test_context(), 4 * kSlowGroups, MemoryKind::device, MemoryCategory::other);
  Uploader(test_context()).upload(buffer, 0, std::vector<std::byte>(4 * kSlowGroups));
  DescriptorSets sets(test_context(), {&pipeline, 1});
  sets.write(0, std::vector<BoundResource>{buffer});
  CommandBuffer commands(test_context());
  commands.begin();
  commands.bind(*pipeline, sets[0]);
  commands.dispatch({kSlowGroups, 1, 1});
  commands.end();
  Fence fence(test_context());
  submit(*test_context(), commands, fence);
  EXPECT_EQ(thrown_by([&] { fence.wait(std::chrono::nanoseconds(1)); }).code(), ErrorCode::device_lost);
  EXPECT_TRUE(fence.pending());
  EXPECT_THROW(submit(*test_context(), commands, fence), Error);
  fence.wait();
  EXPECT_FALSE(fence.pending());
  submit(*test_context(), commands, fence);  // the destructor waits
}

// A kernel that still runs when everything it uses is deleted.
void abandon_slow_work(const std::shared_ptr<Context>& context) {
  const auto pipeline = context->pipelines().get(slow_kernel());
  const Buffer buffer = make_buffer(context, 4 * kSlowGroups, MemoryKind::device, MemoryCategory::other);
  DescriptorSets sets(context, {&pipeline, 1});
  sets.write(0, std::vector<BoundResource>{buffer});
  CommandBuffer commands(context);
  commands.begin();
  commands.bind(*pipeline, sets[0]);
  commands.dispatch({kSlowGroups, 1, 1});
  commands.end();
  Fence fence(context);
  submit(*context, commands, fence);
  EXPECT_EQ(thrown_by([&] { fence.wait(); }).code(), ErrorCode::device_lost);
}

TEST(Fences, WhatASubmitUsesIsKeptUntilTheDeviceHasFinished) {
  ContextOptions options = test::test_context_options();
  options.wait_limit = std::chrono::nanoseconds(1);
  const auto context = Context::create(options);
  const auto bytes = [&] { return context->memory_statistics().of(MemoryCategory::other).bytes; };
  abandon_slow_work(context);
  EXPECT_EQ(bytes(), 4 * kSlowGroups) << "freed while the device used it";
  context->wait_idle();
  CommandBuffer nothing(context);
  nothing.begin();
  nothing.end();
  Fence fence(context);
  submit(*context, nothing, fence);
  EXPECT_EQ(bytes(), 0u) << "kept although the device has finished";
  fence.wait(std::chrono::seconds(60));
}

TEST(Fences, AContextWaitsForWhatWasAbandoned) {
  ContextOptions options = test::test_context_options();
  options.wait_limit = std::chrono::nanoseconds(1);
  auto context = Context::create(options);
  abandon_slow_work(context);
  context->wait_idle();
  context.reset();  // the validation layer reports what is destroyed while it is used, or not at all
}

TEST(Timestamps, RiseWithTheWork) {
  if (!timestamps_supported(*test_context())) GTEST_SKIP() << "no time stamps on this device";
  const auto pipeline = test_context()->pipelines().get(slow_kernel());
  const Buffer buffer =
      make_buffer(test_context(), 4 * kSlowGroups, MemoryKind::device, MemoryCategory::other);
  DescriptorSets sets(test_context(), {&pipeline, 1});
  sets.write(0, std::vector<BoundResource>{buffer});
  const TimestampQueries queries(test_context(), 4);
  CommandBuffer commands(test_context());
  commands.begin();
  queries.reset(commands);
  queries.write(commands, 0);
  commands.fill(buffer, 0, buffer.size(), 0);
  commands.barrier(kTransferWrite, kComputeReadWrite);
  commands.bind(*pipeline, sets[0]);
  commands.dispatch({kSlowGroups, 1, 1});
  queries.write(commands, 1);
  queries.write(commands, 3);
  commands.end();
  for (int run = 0; run < 2; ++run) {
    submit_and_wait(*test_context(), commands);
    const std::vector<double> times = queries.read();
    EXPECT_EQ(times[0], 0);
    EXPECT_GT(times[1], 1e3) << "nanoseconds";
    EXPECT_LT(times[1], 60e9);
    EXPECT_TRUE(std::isnan(times[2])) << "never written";
    EXPECT_GE(times[3], times[1]);
  }
}

// As on Mali, after the fence was signalled.
TEST(Timestamps, AreReadAgainWhereTheDriverHasThemLate) {
  test::Interposer vulkan;
  vulkan.delay_queries(3);
  ContextOptions options = test::test_context_options();
  options.get_instance_proc_addr = vulkan.get_instance_proc_addr();
  const auto context = Context::create(options);
  if (!timestamps_supported(*context)) GTEST_SKIP() << "no time stamps on this device";
  const TimestampQueries queries(context, 1);
  CommandBuffer commands(context);
  commands.begin();
  queries.reset(commands);
  queries.write(commands, 0);
  commands.end();
  submit_and_wait(*context, commands);
  EXPECT_EQ(queries.read(), std::vector<double>{0});
}

TEST(Timestamps, ADeviceThatSaysPeriodZeroHasNone) {
  ContextOptions options = test::test_context_options();
  options.adjust_caps = [](const DeviceCaps& caps) {
    DeviceCaps without = caps;
    without.timestamp_period_ns = 0;
    return without;
  };
  const auto context = Context::create(options);
  EXPECT_FALSE(timestamps_supported(*context));
  EXPECT_EQ(thrown_by([&] { TimestampQueries(context, 2); }).code(), ErrorCode::unsupported);
}

TEST(Validation, AMissingBarrierIsFound) {
  if (!test::with_validation()) GTEST_SKIP() << "Wine shows programs no layers";
  const auto pipeline = test_context()->pipelines().get(test::scale_kernel("2.0"));
  const Buffer a = make_buffer(test_context(), 256, MemoryKind::device, MemoryCategory::other);
  const Buffer b = make_buffer(test_context(), 256, MemoryKind::device, MemoryCategory::other);
  const std::vector<std::shared_ptr<const Pipeline>> pipelines{pipeline, pipeline};
  DescriptorSets sets(test_context(), pipelines);
  sets.write(0, std::vector<BoundResource>{a, b});
  sets.write(1, std::vector<BoundResource>{b, a});
  CommandBuffer commands(test_context());
  const test::ScaleParameters parameters{64, 0};
  const auto before = test_context()->validation_messages();
  for (const bool with_barrier : {true, false}) {
    commands.begin();
    commands.fill(a, 0, 256, 0);
    commands.barrier(kTransferWrite, kComputeReadWrite);
    for (size_t i = 0; i < 2; ++i) {
      commands.bind(*pipeline, sets[i]);
      commands.push_constants(*pipeline, std::as_bytes(std::span(&parameters, 1)));
      commands.dispatch({1, 1, 1});
      if (with_barrier) commands.barrier(kComputeReadWrite, kComputeReadWrite);
    }
    commands.end();
    EXPECT_EQ(test::pop_validation_messages() > 0, !with_barrier);
  }
  EXPECT_GT(test_context()->validation_messages().errors, before.errors);
}

}  // namespace
}  // namespace vellum::gpu

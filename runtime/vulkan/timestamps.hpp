// GPU timestamps, in nanoseconds.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "vulkan/delete_when_idle.hpp"

namespace vellum::gpu {

class CommandBuffer;
class Context;

// Returns whether the device has timestamps (caps().timestamp_period_ns is not 0).
bool timestamps_supported(const Context& context);

// A query pool of timestamps.
class TimestampQueries {
 public:
  // Throws Error(unsupported) if timestamps_supported() is false.
  TimestampQueries(std::shared_ptr<Context> context, uint32_t count);
  ~TimestampQueries();
  TimestampQueries(TimestampQueries&&) noexcept;
  TimestampQueries& operator=(TimestampQueries&&) noexcept;

  uint32_t size() const;
  // Records a reset, which must precede the first write of each submit.
  void reset(CommandBuffer& commands) const;
  // Records a timestamp that is written when all earlier commands have completed `stage`.
  void write(CommandBuffer& commands, uint32_t index,
             VkPipelineStageFlagBits stage = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT) const;
  // Returns for each query the nanoseconds since the first written one. Call it after the submit is done.
  // Handles counters that wrap around. Queries that were not written are NaN.
  std::vector<double> read() const;

 private:
  struct Impl;
  std::unique_ptr<Impl, DeleteWhenIdle> impl_;
};

}  // namespace vellum::gpu

// GPU time stamps, in nanoseconds.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace vellum::gpu {

class CommandBuffer;
class Context;

// False on devices without them (caps().timestamp_period_ns is 0).
bool timestamps_supported(const Context& context);

class TimestampQueries {
 public:
  // Error(unsupported) where timestamps_supported() is false.
  TimestampQueries(std::shared_ptr<Context> context, uint32_t count);
  ~TimestampQueries();
  TimestampQueries(TimestampQueries&&) noexcept;
  TimestampQueries& operator=(TimestampQueries&&) noexcept;

  uint32_t size() const;
  // To be recorded before the first write of each submit.
  void reset(CommandBuffer& commands) const;
  // When all commands before it have passed `stage`.
  void write(CommandBuffer& commands, uint32_t index,
             VkPipelineStageFlagBits stage = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT) const;
  // After the submit is done: nanoseconds since the first written query, by index; a counter that wraps
  // around is handled. Queries that were not written give NaN.
  std::vector<double> read() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vellum::gpu

// Recording and submitting commands.
#pragma once

#include <vulkan/vulkan_core.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "vellum/vulkan.hpp"
#include "vulkan/delete_when_idle.hpp"

namespace vellum::gpu {

class Buffer;
class Context;
class Image;
class Pipeline;
enum class QueueKind : uint8_t;

// The stages and accesses on one side of a barrier.
struct Scope {
  VkPipelineStageFlags stages;
  VkAccessFlags access;
};
inline constexpr Scope kComputeReadWrite{VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                         VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
inline constexpr Scope kComputeRead{VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT};
inline constexpr Scope kComputeWrite{VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT};
inline constexpr Scope kTransferRead{VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT};
inline constexpr Scope kTransferWrite{VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT};
inline constexpr Scope kIndirectRead{VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
                                     VK_ACCESS_INDIRECT_COMMAND_READ_BIT};
inline constexpr Scope kHostRead{VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT};
inline constexpr Scope kHostWrite{VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_WRITE_BIT};
// An execution dependency only, for the first use of memory that has not been written.
inline constexpr Scope kNothing{VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, 0};

constexpr Scope operator|(Scope a, Scope b) { return {a.stages | b.stages, a.access | b.access}; }

// An image layout transition. A transition from UNDEFINED discards the image's content.
struct ImageTransition {
  const Image* image = nullptr;
  VkImageLayout from = VK_IMAGE_LAYOUT_UNDEFINED;
  VkImageLayout to = VK_IMAGE_LAYOUT_GENERAL;
};

// A range of a buffer, or a level and layer of an image, that another queue family owns before and after the
// commands.
struct OwnedResource {
  uint32_t owner = VK_QUEUE_FAMILY_IGNORED;
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t offset = 0, bytes = 0;
  VkImage image = VK_NULL_HANDLE;  // instead of the buffer
  VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
  uint32_t mip_level = 0, array_layer = 0;
};

uint32_t queue_family_count(const Context& context);
// Returns whether VK_QUEUE_FAMILY_FOREIGN_EXT can be an owner.
bool knows_foreign_owners(const Context& context);

// A command pool with one command buffer, or a command buffer of the application. One thread at a time.
class CommandBuffer {
 public:
  // Wraps a command buffer of the application, which calls vkBeginCommandBuffer and vkEndCommandBuffer
  // itself.
  CommandBuffer(std::shared_ptr<Context> context, VkCommandBuffer recorded_to);
  explicit CommandBuffer(std::shared_ptr<Context> context);
  CommandBuffer(std::shared_ptr<Context> context, QueueKind queue);
  ~CommandBuffer();
  CommandBuffer(CommandBuffer&&) noexcept;
  CommandBuffer& operator=(CommandBuffer&&) noexcept;

  // Discards the recorded commands and starts recording. once: the commands are submitted at most once.
  // Without it they may be submitted any number of times, one submit after another.
  void begin(bool once = false);
  void begin_simultaneous_use();  // may be submitted any number of times, also while it is pending
  void end();
  VkCommandBuffer handle() const;
  const Context& context() const;

  void bind(const Pipeline& pipeline, VkDescriptorSet set);
  void push_constants(const Pipeline& pipeline, std::span<const std::byte> bytes);
  // Throws Error(unsupported) if a count exceeds the device's limit.
  void dispatch(std::array<uint32_t, 3> workgroup_count);
  // Dispatches the workgroups from `first` on. The pipeline's key must have `dispatch_base`.
  void dispatch_from(std::array<uint32_t, 3> first, std::array<uint32_t, 3> workgroup_count);
  // Dispatches as many workgroups as three words at `offset` state when the device executes the command.
  void dispatch_indirect(const Buffer& counts, uint64_t offset);
  // Records one memory barrier over all memory, and the transitions.
  void barrier(Scope before, Scope after, std::span<const ImageTransition> transitions = {});
  // Transfer the ownership from the owners to the compute queue's family before the compute shaders that
  // follow, and back after the compute shaders so far. Without resources they record nothing.
  void acquire(std::span<const OwnedResource> resources);
  void release(std::span<const OwnedResource> resources);
  void copy(const Buffer& from, uint64_t from_offset, const Buffer& to, uint64_t to_offset, uint64_t bytes);
  void copy(VkBuffer from, uint64_t from_offset, VkBuffer to, uint64_t to_offset, uint64_t bytes);
  void fill(const Buffer& buffer, uint64_t offset, uint64_t bytes, uint32_t value);
  // Sets all bits of the image, which is in layout GENERAL: NaN in floats.
  void fill_with_ones(const Image& image);
  // Begin and end a label around commands, for debuggers (Context::has_debug_labels()).
  void begin_label(const std::string& label);
  void end_label();

 private:
  struct Impl;
  std::unique_ptr<Impl, DeleteWhenIdle> impl_;
};

class Semaphore;

// The queue of a submit, and its order relative to submits to other queues.
struct SubmitOrder {
  QueueKind queue{};
  std::span<const Semaphore* const> wait = {};  // compute shaders and copies of the submit begin after these
  const Semaphore* signal = nullptr;
  SubmitSemaphores application = {};  // additional semaphores of the application
};

// A fence for one submit at a time.
class Fence {
 public:
  explicit Fence(std::shared_ptr<Context> context);
  ~Fence();
  Fence(Fence&&) noexcept;
  Fence& operator=(Fence&&) noexcept;

  // Waits until the submit with this fence is done, and resets the fence. Returns at once if nothing was
  // submitted with it. Throws Error(device_lost) if the device is lost or the timeout (by default the
  // context's) expires. After a timeout the caller may wait again; the destructor does, too.
  void wait(std::optional<std::chrono::nanoseconds> timeout = std::nullopt);
  // Waits at most `timeout`, then returns done(). The fence stays pending; a timeout is no error.
  bool wait_for(std::chrono::nanoseconds timeout) const;
  bool pending() const;  // submitted, and not yet waited for
  bool done() const;     // wait() would return at once
  VkFence handle() const;

 private:
  friend void submit(Context&, std::span<const VkCommandBuffer>, Fence&, const SubmitOrder&);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A binary semaphore between queues: one submit signals it, one later submit waits for it, and then it may be
// reused.
class Semaphore {
 public:
  explicit Semaphore(std::shared_ptr<Context> context);
  ~Semaphore();
  Semaphore(Semaphore&&) noexcept;
  Semaphore& operator=(Semaphore&&) noexcept;
  VkSemaphore handle() const;

 private:
  struct Impl;
  std::unique_ptr<Impl, DeleteWhenIdle> impl_;
};

// Submits command buffers. Thread-safe. The fence must not be pending.
void submit(Context& context, std::span<const VkCommandBuffer> commands, Fence& fence,
            const SubmitOrder& order = {});
void submit(Context& context, const CommandBuffer& commands, Fence& fence, const SubmitOrder& order = {});
// Submits without a fence: the application's semaphores signal when the work is done.
void submit_without_fence(Context& context, const CommandBuffer& commands, const SubmitOrder& order);
void submit_and_wait(Context& context, const CommandBuffer& commands,
                     std::optional<std::chrono::nanoseconds> timeout = std::nullopt);

}  // namespace vellum::gpu

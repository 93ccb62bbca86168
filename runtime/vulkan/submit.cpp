// Fences and submits of commands.hpp.
#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "caps/driver_quirks.hpp"
#include "vulkan/commands.hpp"
#include "vulkan/context_impl.hpp"

namespace vellum::gpu {

vk::Result Context::Impl::wait_for_fence(vk::Fence fence, uint64_t nanoseconds) {
  if (!waits_in_turn(caps)) return device.waitForFences(fence, VK_TRUE, nanoseconds);
  // For a short time in turn, so that no thread waits for what another one's work must come before.
  constexpr uint64_t kTurn = 1'000'000;
  for (uint64_t left = nanoseconds;;) {
    const uint64_t turn = std::min(left, kTurn);
    {
      const std::lock_guard lock(wait_mutex);
      const vk::Result result = device.waitForFences(fence, VK_TRUE, turn);
      if (result != vk::Result::eTimeout || left == turn) return result;
    }
    std::this_thread::yield();
    left -= turn;
  }
}

struct Fence::Impl {
  std::shared_ptr<Context> context;
  vk::raii::Fence fence{nullptr};
  bool pending = false;
  bool is_uncertain = false;  // a wait timed out or failed, so that the device may use objects for any time

  void doubt() {
    if (!std::exchange(is_uncertain, true)) context->impl().retained.begin_uncertain();
  }
};

Fence::Fence(std::shared_ptr<Context> context) : impl_(std::make_unique<Impl>()) {
  impl_->fence = translated("creating a fence", [&] {
    return vk::raii::Fence(context->impl().device, vk::FenceCreateInfo(), context->impl().allocator());
  });
  impl_->context = std::move(context);
}

// Waits, because the objects that a submit uses must outlive it. If that fails, they are kept: see
// retained.hpp.
Fence::~Fence() {
  if (!impl_ || !impl_->pending) return;
  try {
    try {
      wait();
    } catch (const Error& error) {
      impl_->context->log(LogLevel::error, error.what());
    }
    if (impl_->is_uncertain || impl_->context->impl().retained.is_lost())
      impl_->context->impl().retained.keep_fence(std::move(impl_->fence));
  } catch (...) {
    // Without memory for the list the fence is never freed; what the submit uses stays in doubt, and is not
    // freed either.
    static_cast<void>(impl_->fence.release());
  }
}

Fence::Fence(Fence&&) noexcept = default;
Fence& Fence::operator=(Fence&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

bool Fence::pending() const { return impl_->pending; }
VkFence Fence::handle() const { return *impl_->fence; }

void Fence::wait(std::optional<std::chrono::nanoseconds> limit) {
  if (!impl_->pending) return;
  Context::Impl& context = impl_->context->impl();
  const std::chrono::nanoseconds timeout = limit.value_or(context.options.wait_limit);
  const std::string& name = context.caps.name;
  vk::Result result = vk::Result::eTimeout;
  try {
    result = context.noting_loss([&] {
      return translated(
          [&] { return "waiting for " + name; },
          [&] { return context.wait_for_fence(*impl_->fence, static_cast<uint64_t>(timeout.count())); });
    });
  } catch (const Error& error) {
    if (error.code() != ErrorCode::device_lost) impl_->doubt();
    throw;
  }
  if (result == vk::Result::eTimeout) {
    impl_->doubt();
    throw Error(ErrorCode::device_lost,
                name + " did not finish within " +
                    std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count()) +
                    " ms; it may hang, or the work may be too much for it in one submit");
  }
  impl_->pending = false;
  if (std::exchange(impl_->is_uncertain, false)) context.retained.end_uncertain();
  translated("resetting a fence", [&] { context.device.resetFences(*impl_->fence); });
  context.retained.collect();
}

bool Fence::wait_for(std::chrono::nanoseconds timeout) const {
  if (!impl_->pending) return true;
  const auto nanoseconds = static_cast<uint64_t>(std::max(timeout, std::chrono::nanoseconds::zero()).count());
  Context::Impl& context = impl_->context->impl();
  return context.noting_loss([&] {
    return translated("waiting for the device", [&] {
      return context.wait_for_fence(*impl_->fence, nanoseconds) == vk::Result::eSuccess;
    });
  });
}

bool Fence::done() const {
  if (!impl_->pending) return true;
  return impl_->context->impl().noting_loss([&] {
    return translated("asking for a fence", [&] { return impl_->fence.getStatus() == vk::Result::eSuccess; });
  });
}

struct Semaphore::Impl {
  std::shared_ptr<Context> context;
  vk::raii::Semaphore semaphore{nullptr};
};

Semaphore::Semaphore(std::shared_ptr<Context> context) : impl_(new Impl) {
  impl_->semaphore = translated("creating a semaphore", [&] {
    return vk::raii::Semaphore(context->impl().device, vk::SemaphoreCreateInfo(),
                               context->impl().allocator());
  });
  impl_->context = std::move(context);
}

Semaphore::~Semaphore() = default;
Semaphore::Semaphore(Semaphore&&) noexcept = default;
Semaphore& Semaphore::operator=(Semaphore&&) noexcept = default;
VkSemaphore Semaphore::handle() const { return *impl_->semaphore; }

namespace {

// The semaphores of one side of a submit, and their values; those of binary ones are ignored.
struct SemaphoreList {
  std::vector<vk::Semaphore> handles;
  std::vector<uint64_t> values;
  bool has_timeline = false;

  void add(VkSemaphore handle, std::optional<uint64_t> value = {}) {
    handles.emplace_back(handle);
    values.push_back(value.value_or(0));
    has_timeline = has_timeline || value;
  }
  void add(std::span<const SemaphoreValue> semaphores) {
    for (const SemaphoreValue& semaphore : semaphores) add(semaphore.semaphore, semaphore.value);
  }
};

void submit(Context& context, std::span<const VkCommandBuffer> commands, VkFence fence,
            const SubmitOrder& order) {
  Context::Impl& impl = context.impl();
  impl.retained.collect();
  SemaphoreList waits, signals;
  for (const Semaphore* semaphore : order.wait) waits.add(semaphore->handle());
  waits.add(order.application.wait);
  if (order.signal) signals.add(order.signal->handle());
  signals.add(order.application.signal);
  const std::vector<vk::PipelineStageFlags> stages(
      waits.handles.size(), vk::PipelineStageFlagBits::eComputeShader | vk::PipelineStageFlagBits::eTransfer);
  vk::SubmitInfo info;
  info.setCommandBufferCount(static_cast<uint32_t>(commands.size()))
      .setPCommandBuffers(reinterpret_cast<const vk::CommandBuffer*>(commands.data()))
      .setWaitSemaphores(waits.handles)
      .setWaitDstStageMask(stages)
      .setSignalSemaphores(signals.handles);
  const vk::TimelineSemaphoreSubmitInfo values(waits.values, signals.values);
  if (waits.has_timeline || signals.has_timeline) info.setPNext(&values);
  impl.use_queue(order.queue, [&](const vk::raii::Queue& queue) {
    impl.noting_loss([&] {
      translated([&] { return "submitting to " + impl.caps.name; }, [&] { queue.submit(info, fence); });
    });
  });
}

}  // namespace

void submit(Context& context, std::span<const VkCommandBuffer> commands, Fence& fence,
            const SubmitOrder& order) {
  if (fence.pending()) throw Error(ErrorCode::internal, "a fence was submitted that is not waited for yet");
  submit(context, commands, fence.handle(), order);
  fence.impl_->pending = true;
}

void submit_without_fence(Context& context, const CommandBuffer& commands, const SubmitOrder& order) {
  const VkCommandBuffer handle = commands.handle();
  submit(context, std::span(&handle, 1), VkFence(VK_NULL_HANDLE), order);
}

void submit(Context& context, const CommandBuffer& commands, Fence& fence, const SubmitOrder& order) {
  const VkCommandBuffer handle = commands.handle();
  submit(context, std::span(&handle, 1), fence, order);
}

void submit_and_wait(Context& context, const CommandBuffer& commands,
                     std::optional<std::chrono::nanoseconds> timeout) {
  Fence fence(context.shared_from_this());
  submit(context, commands, fence);
  fence.wait(timeout);
}

}  // namespace vellum::gpu

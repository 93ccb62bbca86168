#include "vulkan/retained.hpp"

#include <thread>
#include <utility>

namespace vellum::gpu {
namespace {

bool is_finished(const vk::raii::Fence& fence) {
  try {
    return fence.getStatus() == vk::Result::eSuccess;
  } catch (const vk::DeviceLostError&) {
    return true;
  } catch (const vk::SystemError&) {
    return false;
  }
}

}  // namespace

void Retained::keep(Kept object) {
  const std::lock_guard lock(mutex_);
  objects_.push_back(object);
  any_ = true;
}

void Retained::keep_fence(vk::raii::Fence fence) {
  const std::lock_guard lock(mutex_);
  fences_.push_back(std::move(fence));
  any_ = true;
}

bool Retained::take_finished(std::vector<Kept>& finished) {
  const std::lock_guard lock(mutex_);
  doubtful_ -= static_cast<uint32_t>(std::erase_if(fences_, is_finished));
  if (is_uncertain()) return false;
  finished.swap(objects_);
  any_ = false;
  return true;
}

bool Retained::collect() noexcept {
  if (!any_) return true;
  std::vector<Kept> finished;
  if (!take_finished(finished)) return false;
  for (const Kept& kept : finished) kept.free(kept.object);
  return true;
}

void Retained::free_all() noexcept {
  std::vector<Kept> all;
  {
    const std::lock_guard lock(mutex_);
    fences_.clear();
    all.swap(objects_);
    any_ = false;
  }
  for (const Kept& kept : all) kept.free(kept.object);
}

bool Retained::collect_after(std::chrono::nanoseconds timeout) noexcept {
  const auto begin = std::chrono::steady_clock::now();
  while (!collect()) {
    if (std::chrono::steady_clock::now() - begin >= timeout) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace vellum::gpu

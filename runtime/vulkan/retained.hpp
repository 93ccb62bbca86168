// Objects that nobody holds any more, and that the device may still use: a wait for their submit timed out or
// failed. They are kept until the device has finished or is lost.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

#include "vulkan/vulkan_hpp.hpp"

namespace vellum::gpu {

// Thread-safe.
class Retained {
 public:
  // A wait failed: until end_doubt(), or until the fence is given to this object and is signalled, whatever
  // is deleted is kept.
  void begin_doubt() { ++doubtful_; }
  void end_doubt() { --doubtful_; }
  bool in_doubt() const { return doubtful_ > 0; }

  // Takes over an object; it stays the caller's if this throws.
  template <typename Object>
  void keep(Object* object) {
    keep(Kept{object, [](void* kept) { delete static_cast<Object*>(kept); }});
  }
  // Takes over a fence in doubt that is deleted.
  void keep_fence(vk::raii::Fence fence);
  // Frees what the device has finished. Returns whether nothing is left.
  bool collect() noexcept;
  // Waits for the device before that.
  bool collect_after(std::chrono::nanoseconds timeout) noexcept;

 private:
  struct Kept {
    void* object;
    void (*free)(void*);
  };
  void keep(Kept object);
  bool take_finished(std::vector<Kept>& finished);

  std::atomic<uint32_t> doubtful_{0};
  std::atomic<bool> any_{false};
  std::mutex mutex_;
  std::vector<Kept> objects_;
  std::vector<vk::raii::Fence> fences_;
};

}  // namespace vellum::gpu

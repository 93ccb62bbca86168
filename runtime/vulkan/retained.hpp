// Objects without an owner that the device may still use, because a wait for their submit timed out or
// failed. They are kept until the device has finished. Those of a lost device are kept until it is destroyed:
// Mali's drivers report the loss while the GPU still works (docs/drivers.md, row 28).
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
  // Called when a wait failed. From then on deleted objects are kept, until end_uncertain(), or until the
  // fence was passed to keep_fence() and is signalled.
  void begin_uncertain() { ++doubtful_; }
  void end_uncertain() { --doubtful_; }
  // Called when the device is lost. From then on deleted objects are kept, until free_all().
  void lose_device() { is_lost_ = true; }
  bool is_lost() const { return is_lost_; }
  bool is_uncertain() const { return is_lost_ || doubtful_ > 0; }

  // Takes ownership of an object. If it throws, the caller still owns the object.
  template <typename Object>
  void keep(Object* object) {
    keep(Kept{object, [](void* kept) { delete static_cast<Object*>(kept); }});
  }
  // Takes ownership of the fence of a failed wait.
  void keep_fence(vk::raii::Fence fence);
  // Frees objects that the device has finished with. Returns whether none is left.
  bool collect() noexcept;
  // Waits for the device at most `timeout`, then does the same as collect().
  bool collect_after(std::chrono::nanoseconds timeout) noexcept;
  // Frees all objects, whatever the device does.
  void free_all() noexcept;

 private:
  struct Kept {
    void* object;
    void (*free)(void*);
  };
  void keep(Kept object);
  bool take_finished(std::vector<Kept>& finished);

  std::atomic<uint32_t> doubtful_{0};
  std::atomic<bool> any_{false}, is_lost_{false};
  std::mutex mutex_;
  std::vector<Kept> objects_;
  std::vector<vk::raii::Fence> fences_;
};

}  // namespace vellum::gpu

// Makes drivers that compile pipelines at their first dispatch compile them earlier.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "vulkan/image.hpp"

namespace vellum::gpu {

class Arena;
class Context;
class Pipeline;

// Does nothing on drivers for which DeviceTraits::compiles_at_first_dispatch is false
// (cost/device_traits.hpp). Thread-safe.
class EarlyCompile {
 public:
  EarlyCompile(std::shared_ptr<Context> context, std::shared_ptr<Arena> memory);
  ~EarlyCompile();
  EarlyCompile(const EarlyCompile&) = delete;
  EarlyCompile& operator=(const EarlyCompile&) = delete;

  // Submits a dispatch of zero workgroups and returns; the driver compiles on its own thread. The compiled
  // code depends on the kinds of images that are bound, so `images` has an equivalent image (smallest_like())
  // for each binding; entries for buffers are ignored. A pipeline that binds images is skipped if `images` is
  // empty or memory is short.
  void begin(const std::shared_ptr<const Pipeline>& pipeline, std::span<const ImageDesc> images);
  // Waits until all pipelines are compiled.
  void finish();

 private:
  struct Dispatch;
  std::shared_ptr<Context> context_;
  std::shared_ptr<Arena> memory_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Dispatch>> dispatches_;
};

// Returns the smallest image for which such a driver compiles the same code: lavapipe distinguishes kinds,
// formats, and whether each extent is a power of two.
ImageDesc smallest_like(const ImageDesc& image);

}  // namespace vellum::gpu

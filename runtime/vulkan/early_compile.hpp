// Has a driver compile pipelines that it would compile at their first dispatch.
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

// For drivers that compiles_at_first_dispatch() is true of (caps/driver_traits.hpp); nothing happens on
// others. Thread-safe.
class EarlyCompile {
 public:
  EarlyCompile(std::shared_ptr<Context> context, std::shared_ptr<Arena> memory);
  ~EarlyCompile();
  EarlyCompile(const EarlyCompile&) = delete;
  EarlyCompile& operator=(const EarlyCompile&) = delete;

  // Submits a dispatch of no workgroups and returns: the driver compiles on a thread of its own. What is
  // compiled depends on the images that are bound: `images` has one like them for each binding
  // (smallest_like()), any for buffers. A pipeline of images without them is left to its first dispatch; so
  // is one that memory is too short for.
  void begin(const std::shared_ptr<const Pipeline>& pipeline, std::span<const ImageDesc> images);
  // Until all of them are compiled.
  void finish();

 private:
  struct Dispatch;
  std::shared_ptr<Context> context_;
  std::shared_ptr<Arena> memory_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Dispatch>> dispatches_;
};

// An image that such a driver compiles the same for: lavapipe tells apart kinds, formats, and whether each
// extent is a power of two.
ImageDesc smallest_like(const ImageDesc& image);

}  // namespace vellum::gpu

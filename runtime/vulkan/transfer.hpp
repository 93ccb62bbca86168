// Copies bytes between host and device through staging buffers of bounded size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vulkan/memory_budget.hpp"
#include "vulkan/staging.hpp"

namespace vellum::gpu {

class Buffer;
class Context;
class Image;
class Semaphore;

struct UploaderOptions {
  // Number of staging buffers. With several the host fills one while the device copies from another.
  uint32_t staging_buffers = 1;
  // Copies overlap with the compute work of earlier submits, on the device's transfer queue if it has one.
  // Resources that they write must not be in use, and must be shared between queues (Sharing::all_queues).
  bool beside_compute = false;
  // The budget that the staging buffers count against, or null.
  std::shared_ptr<MemoryBudget> memory_budget = nullptr;
};

// Batches many uploads into few submits. Staging memory exists from the first upload that needs it until
// finish(). The resources must be bound, not in use by the device, and alive until finish() or wait().
class Uploader {
 public:
  // `bytes`: the expected total of bytes through staging memory, which determines its size
  // (vulkan/staging.hpp).
  explicit Uploader(std::shared_ptr<Context> context, uint64_t bytes = kMaxStagingBytes,
                    const UploaderOptions& options = {});
  ~Uploader();  // without finish(), pending uploads may be lost
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;

  // Uploads to a buffer; writes host-visible memory directly.
  void upload(const Buffer& to, uint64_t offset, std::span<const std::byte> bytes);
  // Uploads a whole image from tightly packed texels, by rows, then by slices. Leaves it in layout GENERAL.
  void upload(const Image& to, std::span<const std::byte> texels);
  // Submits pending copies. They are visible to later submits to the same queue, and to submits to another
  // queue that wait for the semaphore. Returns false, and signals nothing, if there are no pending copies.
  bool submit(const Semaphore* signal = nullptr);
  // Drops copies that have not been submitted.
  void discard();
  // Waits for all submitted copies.
  void wait();
  // Submits and waits for all copies, makes them visible to later submits, and frees the staging memory.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Return the whole content of a resource. It must not be in use by the device; an image must be in layout
// GENERAL. memory_budget: the budget that the staging buffer counts against, or null.
std::vector<std::byte> download(const std::shared_ptr<Context>& context, const Buffer& from,
                                const std::shared_ptr<MemoryBudget>& memory_budget = nullptr);
std::vector<std::byte> download(const std::shared_ptr<Context>& context, const Image& from);

}  // namespace vellum::gpu

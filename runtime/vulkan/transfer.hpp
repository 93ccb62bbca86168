// Bytes between host and device through a staging buffer of bounded size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "caps/staging.hpp"

namespace vellum::gpu {

class Buffer;
class Context;
class Image;
class Semaphore;

// How an Uploader goes about it.
struct UploaderOptions {
  // Pieces of staging memory: while the device copies from one, the host fills another.
  uint32_t pieces = 1;
  // Copies run beside the compute work of earlier submits rather than after it, on the device's transfer
  // queue where there is one: what they write must not be in use, nor belong to compute alone (Sharing).
  bool beside_compute = false;
};

// Batches many uploads into few submits. Staging memory exists from the first upload that needs it until
// finish(). The resources must be bound, not in use by the device, and alive until finish() or wait().
class Uploader {
 public:
  // `bytes`: how many will go through staging memory, as far as is known (caps/staging.hpp).
  explicit Uploader(std::shared_ptr<Context> context, uint64_t bytes = kMostStagingBytes,
                    const UploaderOptions& options = {});
  ~Uploader();  // without finish() some uploads may not happen
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;

  // Straight to the memory where the host can reach it.
  void upload(const Buffer& to, uint64_t offset, std::span<const std::byte> bytes);
  // The whole image, texels tightly packed row by row, then slice by slice; leaves it in layout GENERAL.
  void upload(const Image& to, std::span<const std::byte> texels);
  // Submits what is left to copy; later submits to the same queue see it, those to another queue when they
  // wait for the semaphore. False, and nothing is signalled, if nothing was copied since the last time.
  bool submit(const Semaphore* signal = nullptr);
  // Forgets what is not submitted yet.
  void discard();
  // Everything that was submitted has arrived.
  void wait();
  // Everything has arrived, is visible to later submits, and the staging memory is given back.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The whole content; the resource must not be in use by the device, an image in layout GENERAL.
std::vector<std::byte> download(const std::shared_ptr<Context>& context, const Buffer& from);
std::vector<std::byte> download(const std::shared_ptr<Context>& context, const Image& from);

}  // namespace vellum::gpu

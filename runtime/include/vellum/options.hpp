// The choices of a session, as words.
#pragma once

#include <cstdint>

namespace vellum {

enum class Precision : uint8_t { fp32, fp16 };  // of stored intermediates and weights; sums are fp32
// How intermediate tensors are stored. A tensor beyond the device's image limits falls back to a buffer.
enum class StorageChoice : uint8_t { automatic, image2d, image3d, buffer };
// shared_objects: tensors whose lifetimes do not meet share an image or buffer. naive: one of its own for
// each, in memory of its own. offsets: one of its own for each, but in memory that tensors whose lifetimes do
// not meet share.
enum class MemoryMode : uint8_t { shared_objects, naive, offsets };

}  // namespace vellum

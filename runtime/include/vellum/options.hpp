// The choices of a session, as words.
#pragma once

#include <cstdint>

namespace vellum {

enum class Precision : uint8_t { fp32, fp16 };  // of stored intermediates and weights; sums are fp32
// How operators with constant weights multiply what Precision::fp16 stores; sums are of fp32 whatever it says.
// fp16: as halves, on devices that can (shaderFloat16); up to sixteen products at a time are added up as halves
// before they join the sum. No such sum overflows: weights are scaled for it. automatic: so where tune() found
// it faster.
enum class Arithmetic : uint8_t { fp32, fp16, automatic };
// How intermediate tensors are stored. A tensor beyond the device's image limits falls back to a buffer.
enum class StorageChoice : uint8_t { automatic, image2d, image3d, buffer };
// shared_objects: tensors whose lifetimes do not meet share an image or buffer. naive: one of its own for
// each, in memory of its own. offsets: one of its own for each, but in memory that tensors whose lifetimes do
// not meet share.
enum class MemoryMode : uint8_t { shared_objects, naive, offsets };
// Convolutions of 3x3 and stride 1 with 2.25 times (f2) or 4 times (f4) fewer multiplications, where that
// should be faster (Lavin and Gray, arXiv 1509.09308). Their weights take 1.8 or 4 times the memory, and
// transformed tiles are workspace. f4 is less exact and for fp32 alone: fp16 takes f2 in its place.
// automatic: either, in convolutions where tune() measured on the device that it is faster, and only there.
enum class Winograd : uint8_t { automatic, off, f2, f4 };

}  // namespace vellum

// The enumerations of options of sessions and devices.
#pragma once

#include <cstdint>

namespace vellum {

enum class Precision : uint8_t { fp32, fp16 };  // of stored intermediates and weights; sums are fp32
// How operators with constant weights multiply values that Precision::fp16 stores. fp32: converted to fp32
// first. fp16: as halves, on devices with shaderFloat16; sums of up to sixteen products are fp16 partial
// sums, which are added to an fp32 accumulator. Weights are scaled so that no partial sum overflows.
// automatic: fp16 where tune() measured it to be faster.
enum class Arithmetic : uint8_t { fp32, fp16, automatic };
// How intermediate tensors are stored. A tensor beyond the device's image limits falls back to a buffer.
enum class StorageChoice : uint8_t { automatic, image2d, image3d, buffer };
// shared_objects: tensors whose lifetimes do not overlap share an image or buffer. naive: each tensor has an
// image or buffer in memory of its own. offsets: each tensor has an image or buffer of its own, and those
// whose lifetimes do not overlap may alias in memory.
enum class MemoryMode : uint8_t { shared_objects, naive, offsets };
// Winograd convolutions (Lavin and Gray, arXiv 1509.09308): 3x3 and stride 1 with 2.25 times (f2) or 4 times
// (f4) fewer multiplications, in layers where that should be faster. Their weights take 1.8 or 4 times the
// memory, and transformed tiles are workspace. f4 is less accurate and for fp32 alone; fp16 uses f2 instead.
// automatic: either, in convolutions where tune() measured it to be faster, and only there.
enum class Winograd : uint8_t { automatic, off, f2, f4 };
// Whether kernels are checked against the host reference at their first use on a device and driver.
// automatic: on GPUs; not on drivers that compute on the CPU, which are the same everywhere.
enum class SelfCheck : uint8_t { automatic, off, on };
// Priority of a device's queues among those of all processes (VK_KHR_global_priority). unspecified: the
// driver's default, medium.
enum class GlobalPriority : uint8_t { unspecified, low, medium, high, realtime };

}  // namespace vellum

// Enumerations for the options of sessions and devices.
#pragma once

#include <cstdint>

namespace vellum {

// Precision of stored intermediates and weights. Accumulators are fp32.
enum class Precision : uint8_t { fp32, fp16 };
// Precision of states that are caches of keys and values.
//   automatic  that of other tensors (Precision).
//   int8       8 bits with a scale for each token and head, in 1/4 of the memory of fp32 and 1/2 of that of
//              fp16, and 4 bytes more for each scale. New tokens are quantised as they are written, and
//              attention reads the integers.
enum class StatePrecision : uint8_t { automatic, int8 };
// How operators with constant weights multiply values that Precision::fp16 stores.
//   fp32       values are converted to fp32 before they are multiplied.
//   fp16       values are multiplied in fp16, on devices with shaderFloat16. Up to sixteen products are
//              summed in fp16, and these partial sums are added to an fp32 accumulator. Weights are
//              scaled so that no partial sum overflows.
//   automatic  fp16 where tune() measured it to be faster.
enum class Arithmetic : uint8_t { fp32, fp16, automatic };
// How intermediate tensors are stored. A tensor beyond the device's image limits falls back to a buffer.
enum class StorageChoice : uint8_t { automatic, image2d, image3d, buffer };
// How intermediate tensors share memory.
//   shared_objects  tensors whose lifetimes do not overlap share an image or buffer.
//   naive           each tensor has an image or buffer, in memory of its own.
//   offsets         each tensor has an image or buffer; those whose lifetimes do not overlap may alias.
enum class MemoryMode : uint8_t { shared_objects, naive, offsets };
// Winograd convolutions (Lavin and Gray, arXiv 1509.09308): 3x3 and stride 1 with 2.25 times (f2) or 4 times
// (f4) fewer multiplications, in layers where the cost model predicts them to be faster. Their weights take
// 1.8 (f2) or 4 times (f4) the memory, and transformed tiles are workspace. f4 is less accurate and for fp32
// only; with fp16 it means f2. automatic: f2 or f4, only in convolutions where tune() measured it to be
// faster.
enum class Winograd : uint8_t { automatic, off, f2, f4 };
// Whether kernels are checked against the host reference at their first use on a device and driver.
// automatic: on GPUs, but not on drivers that compute on the CPU, because Vellum's tests run on these.
enum class SelfCheck : uint8_t { automatic, off, on };
// Priority of a device's queues among the queues of all processes (VK_KHR_global_priority). unspecified: the
// driver's default, which is medium.
enum class GlobalPriority : uint8_t { unspecified, low, medium, high, realtime };

}  // namespace vellum

// The best rates of the device, measured with small kernels that do nothing else. Other kernels are compared
// with them.
#pragma once

#include <memory>

#include "program/program.hpp"
#include "vulkan/context.hpp"

namespace vellum::bench {

// The way in which a kernel accesses a tensor.
enum class Reach { image, texel_buffer, storage_buffer };

const char* name(Reach reach);

struct Ceilings {
  double multiply_add = 0;  // GF/s of independent multiply-adds in registers, fp32
  // GB/s, in order of Reach; out of texel buffers goes into storage buffers. load: of vec4 out of 32 KiB that
  // every invocation reads again and again. store: of vec4 into 1 to 4 MiB, 16 an invocation. copy: of a
  // tensor of 32 MiB, one vec4 an invocation, read and written bytes both counted.
  double load[3] = {}, store[3] = {}, copy[3] = {};
  double dispatch_us = 0;  // between the timestamps around a dispatch of one invocation
};

// Two seconds on two CPU cores. Throws Error(internal) where a kernel computed something wrong, and
// Error(unsupported) on a device without timestamps.
Ceilings measure_ceilings(const std::shared_ptr<gpu::Context>& context);

}  // namespace vellum::bench

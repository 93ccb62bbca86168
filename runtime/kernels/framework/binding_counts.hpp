// The bindings of a dispatch by the kinds that devices limit.
#pragma once

#include <cstdint>

#include "caps/device_caps.hpp"
#include "program/program.hpp"

namespace vellum {

struct BindingCounts {
  uint32_t storage_images = 0, sampled_images = 0, buffers = 0;

  // Returns whether a dispatch on the device may have so many.
  bool fit(const DeviceCaps& caps) const {
    return storage_images <= caps.max_storage_images_per_stage &&
           sampled_images <= caps.max_sampled_images_per_stage &&
           buffers <= caps.max_storage_buffers_per_stage;
  }
};

inline BindingCounts count_bindings(const Program& program, const Dispatch& dispatch) {
  BindingCounts counts;
  for (const Binding& binding : dispatch.bindings) {
    const bool buffer =
        program.tensors[binding.tensor].desc.storage == Storage::buffer && !binding.texel_buffer;
    ++(buffer ? counts.buffers : binding.sampled ? counts.sampled_images : counts.storage_images);
  }
  return counts;
}

}  // namespace vellum

// The dispatch that copies between the application's buffer with strides and a dense buffer.
#pragma once

#include <cstdint>
#include <span>

#include "caps/device_caps.hpp"
#include "kernels/framework/strided.hpp"
#include "program/program.hpp"

namespace vellum {

// The positions of a tensor's elements in a strided buffer, in words of 32 bits.
struct StridedWords {
  LoopNest nest;       // collapsed, with one operand
  uint64_t bytes = 0;  // from the first element to the end of the last
};

// Returns the positions for strides in bytes, one for each dimension. writes: the buffer is written, so
// elements must not overlap.
// Throws Error(invalid_argument) for a wrong number of strides, for strides that are not multiples of the
// element size, and for elements that overlap; Error(unsupported) if the kernel has too few loops, or if
// elements are not whole words.
StridedWords strided_words(const Shape& shape, ElementType element, std::span<const uint64_t> strides,
                           bool writes);

// Returns a dispatch that reads binding 0 and writes binding 1. scatter: binding 0 is the dense buffer;
// otherwise binding 1 is. The dispatch lists no bindings, because neither buffer is a tensor of the program.
Dispatch copy_strided_words(const DeviceCaps& caps, const StridedWords& words, bool scatter);

}  // namespace vellum

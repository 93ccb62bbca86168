// The dispatch between an application's buffer with strides and a dense one.
#pragma once

#include <cstdint>
#include <span>

#include "caps/device_caps.hpp"
#include "kernels/movement/strided.hpp"
#include "program/program.hpp"

namespace vellum {

// The elements of a tensor in a strided buffer, in words of 32 bits.
struct StridedWords {
  LoopNest nest;       // of one operand, collapsed
  uint64_t bytes = 0;  // from the first element to the end of the last
};

// strides: bytes between neighbours along each dimension. writes: the buffer is written, so that no two
// elements may overlap. Throws Error(invalid_argument) for strides that are not one for each dimension, not
// whole elements, or that overlap, and Error(unsupported) for more loops than the kernel has, or bytes that
// do not make whole words.
StridedWords strided_words(const Shape& shape, ElementType element, std::span<const uint64_t> strides,
                           bool writes);

// Binding 0 is read, binding 1 written: scatter says which of them is dense. The dispatch lists no bindings,
// since neither is a tensor of a program.
Dispatch copy_strided_words(const DeviceCaps& caps, const StridedWords& words, bool scatter);

}  // namespace vellum

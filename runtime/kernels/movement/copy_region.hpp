// Copies boxes between two channels4 tensors, for Pad, Slice, Split and Concat in this layout.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/framework/lowering.hpp"

namespace vellum {

// A region copy. Along each of N, C, H, W, element i of y is element step * i + offset of x.
struct Region {
  std::array<int64_t, 4> offset{0, 0, 0, 0};
  std::array<int64_t, 4> step{1, 1, 1, 1};  // step[1] is 1
  int64_t mode = 0;  // padding mode for elements outside of x (pad.glsl); along C always `fill`
  float fill = 0.0f;
  // The box of y that is written. Other elements are kept, except channels of the same texel that a later
  // copy writes.
  std::array<int64_t, 4> begin{0, 0, 0, 0}, size{0, 0, 0, 0};
};

// Returns a region that covers all of y.
Region whole_region(const Shape& y);
void copy_region(Lowering& lowering, TensorId x, TensorId y, const Region& region);
// Returns whether copy_region() copies a run of bytes, so that one tensor may become a view of the other.
bool copies_bytes(const Lowering& lowering, TensorId x, TensorId y, const Region& region);

}  // namespace vellum

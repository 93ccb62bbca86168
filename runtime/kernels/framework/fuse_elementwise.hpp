// Elementwise functions of small tensors that one kernel computes (shaders/elementwise/elementwise.comp).
//
//   before   unary(x) ..> t    binary(t, scale) ..> u    binary(u, x) ..> y
//   after    elementwise(x, scale) ..> y
#pragma once

#include <cstddef>

#include "caps/device_caps.hpp"
#include "kernels/framework/kernel_id.hpp"
#include "program/program.hpp"

namespace vellum {

// Joins dispatches of elementwise functions whose results have equally many elements, at most 65,536, and
// which read each other's results or the same tensors. The kernel computes the same numbers, and stores only
// the results that other dispatches read. Programs with images are left as they are: there, linear tensors
// may be rows of texels, which this kernel cannot access. `wrong`: kernels that must not result; null: none.
// Returns the number of dispatches that were removed.
size_t fuse_elementwise(Program& program, const DeviceCaps& caps, const WrongKernels* wrong);

}  // namespace vellum

// Elementwise functions that the kernel of an operand computes as it stores (shaders/common/epilogue.glsl).
//
//   before   norm_rows ..> t    binary(t, shortcut) ..> y        after   norm_rows(shortcut) ..> y
#pragma once

#include <cstddef>

#include "caps/device_caps.hpp"
#include "kernels/framework/kernel_id.hpp"
#include "program/program.hpp"

namespace vellum {

// Fuses each Add, Sub and Mul of two tensors of one shape and layout with the dispatch that computes one of
// them, and each PRelu with a slope for each channel with the dispatch that computes its input, if nothing
// else reads that tensor, the other one exists before, and the device can bind it, too. A
// dispatch has one epilogue. A tensor that is no longer computed stays in the program, unused. `wrong`:
// kernels that must not result; null: none. Returns the number of dispatches that were removed.
size_t fuse_epilogues(Program& program, const DeviceCaps& caps, const WrongKernels* wrong);

}  // namespace vellum

// The last step of every dispatch, before it is added to a program.
#pragma once

#include "caps/device_caps.hpp"
#include "program/program.hpp"

namespace vellum {

// Chooses how the shader reads the bound tensors, moves the appended fields to the push constants or to
// macros, and defines the macros of the tensors. Throws Error(unsupported) if the dispatch exceeds a limit of
// the device.
void finish_dispatch(const Program& program, const DeviceCaps& caps, Dispatch& dispatch);

// Returns whether the device can bind the tensors of a finished dispatch, to which tensors were added. Reads
// images as sampled images if there are too many storage images otherwise.
bool can_bind(const Program& program, const DeviceCaps& caps, Dispatch& dispatch);

}  // namespace vellum

// The last step of every dispatch, before it is added to a program.
#pragma once

#include "caps/device_caps.hpp"
#include "program/program.hpp"

namespace vellum {

// Chooses how the shader reads the bound tensors, moves the appended fields to the push constants or to
// macros, and defines the macros of the tensors. Throws Error(unsupported) if the dispatch exceeds a limit of
// the device.
void finish_dispatch(const Program& program, const DeviceCaps& caps, Dispatch& dispatch);

}  // namespace vellum

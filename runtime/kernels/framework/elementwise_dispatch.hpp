// The dispatch that computes several elementwise functions (shaders/elementwise/elementwise.comp).
#pragma once

#include <span>

#include "caps/device_caps.hpp"
#include "kernels/framework/element_functions.hpp"
#include "program/program.hpp"

namespace vellum {

// Makes the dispatch that computes the functions in their order and stores those results that are in
// `stored`. A function may read the results of earlier ones. All results have equally many elements, and all
// tensors are linear. Throws Error(unsupported) if the device cannot bind all of them.
Dispatch elementwise_dispatch(const Program& program, const DeviceCaps& caps,
                              std::span<const ElementFunction> functions, std::span<const TensorId> stored);

}  // namespace vellum

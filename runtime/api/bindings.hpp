// The application's buffers and images as inputs and outputs: checks of Session::bind().
#pragma once

#include <vector>

#include "exec/recording.hpp"
#include "vellum/vellum.hpp"
#include "vellum/vulkan.hpp"

namespace vellum {

// Returns the layout that the application's buffer for a port must have. Throws Error(unsupported), which
// begins with `kind` ("input" or "output"), for a port that no buffer can be bound to.
BufferLayout layout_of(const Executor& executor, const Port& port, const char* kind);

// Checks bindings and returns them by port. inputs, outputs: infos of the session, in the order of the
// program's ports. Throws the errors of Session::bind().
BoundPorts bound_ports(const Executor& executor, const std::vector<TensorInfo>& inputs,
                       const std::vector<TensorInfo>& outputs, const NetworkBindings& bindings);

}  // namespace vellum

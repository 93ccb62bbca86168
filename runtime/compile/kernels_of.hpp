// Uses the same kernels for several input shapes of a network, so that each output element sums the same
// terms in the same order for every shape.
#pragma once

#include <memory>

#include "compile/compile.hpp"

namespace vellum {

// Returns a table for CompileOptions::tuning that forces `graph` to use the kernel candidates of `reference`.
// Both are prepared graphs of one network with different input shapes. `options`: the options of both,
// without tuning, and without Winograd, because the positions of its tiles depend on the shape. Throws
// Error(unsupported), which names the layer, if a layer of `graph` does not have the candidate.
std::shared_ptr<const TuningTable> kernels_of(const Graph& reference, const Graph& graph,
                                              const DeviceCaps& caps, const CompileOptions& options);

}  // namespace vellum

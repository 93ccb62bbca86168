// One choice of kernels for several input shapes of a network, so that each output element is the sum of the
// same terms in the same order whatever the shapes.
#pragma once

#include <memory>

#include "compile/compile.hpp"

namespace vellum {

// Returns a table, for CompileOptions::tuning, by which the layers of `graph` take the kernel candidates that
// those of `reference` take. Both are prepared, of one network. `options`: of both, without tuning and
// Winograd, whose tiles begin elsewhere in each shape. Throws Error(unsupported), naming the layer, if it has
// no such candidate in `graph`.
std::shared_ptr<const TuningTable> kernels_of(const Graph& reference, const Graph& graph,
                                              const DeviceCaps& caps, const CompileOptions& options);

}  // namespace vellum

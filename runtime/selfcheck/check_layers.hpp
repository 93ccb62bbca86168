// Compares the layers of a network with the host reference, each in its own shapes.
#pragma once

#include <memory>
#include <vector>

#include "graph/graph.hpp"
#include "kernels/framework/lowering.hpp"
#include "vellum/kernel_check.hpp"
#include "vulkan/context.hpp"

namespace vellum {

// Computes the graph on the host, from inputs in [-1, 1]. Then computes each node that has a kernel on the
// device, from the host's values, and compares. `graph`: as it is lowered for `caps` with `lowering`. Throws
// the errors of check_layers() of vellum/kernel_check.hpp.
std::vector<KernelCheck> check_layers(const std::shared_ptr<gpu::Context>& context, const DeviceCaps& caps,
                                      const Graph& graph, const LoweringOptions& lowering,
                                      const KernelCheckOptions& options);

}  // namespace vellum

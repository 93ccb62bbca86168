// Compares the layers of a network with the host reference, each in its own shapes.
#pragma once

#include <memory>
#include <vector>

#include "graph/graph.hpp"
#include "kernels/framework/lowering.hpp"
#include "vellum/kernel_check.hpp"
#include "vulkan/context.hpp"

namespace vellum {

// Computes the graph on the host, from inputs in [-1, 1], and each of its nodes that has a kernel also on the
// device, from the host's values. The graph is as it is lowered, for these caps and with `lowering`. Throws
// what check_layers() of vellum/kernel_check.hpp does.
std::vector<KernelCheck> check_layers(const std::shared_ptr<gpu::Context>& context, const DeviceCaps& caps,
                                      const Graph& graph, const LoweringOptions& lowering,
                                      const KernelCheckOptions& options);

}  // namespace vellum

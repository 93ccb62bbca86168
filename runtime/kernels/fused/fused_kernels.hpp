// Fused kernels: one kernel for several nodes, where a device gains by it. Start reading here.
//
//   graph --fuse()--> graph with FusedNodes --lower()--> dispatches
//
// A kernel's file has its match on the graph, its tiles with their predicted times, what it emits, and how
// the nodes are computed one by one instead. The rows of the table are in
// graph/operators/fused/fused_kernels.def.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "caps/device_caps.hpp"
#include "graph/graph.hpp"
#include "graph/operators/fused/fused_nodes.hpp"
#include "kernels/framework/kernel_id.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/rewrite/graph_editor.hpp"
#include "vellum/options.hpp"

namespace vellum {

struct FusionContext {
  const DeviceCaps& caps;
  Precision precision = Precision::fp32;
};

// The predicted time of a node.
struct NodeTime {
  size_t index = 0;
  double us = 0;
};

// Nodes of a graph that one kernel should compute.
struct FusedMatch {
  size_t index = 0;             // in the place of this one
  Node node;                    // with FusedNodes
  std::vector<size_t> removed;  // the others
  // Where there is a model of it: the predicted time of the kernel, and of each node as a kernel of its own.
  double us = 0;
  std::vector<NodeTime> layers = {};
};

// The match of a kernel that ends, in execution order, with the node at `index`; nothing if there is none, or
// if the device gains nothing. Does not change the graph.
using MatchFused = std::optional<FusedMatch> (*)(const GraphEditor& editor, size_t index,
                                                 const FusionContext& context);

// A row of fused_kernels.def, which describes the columns. find_lowering() has the lowerings.
struct FusedKernel {
  FusedKernelId id = {};
  int rank = 0;
  bool falls_back = false;
  MatchFused match = nullptr;
};

// Puts FusedNodes in the place of nodes that one kernel should compute on the device. Depends on the device,
// so it is no pass of optimise(). Shapes must be known; ids of values stay. `wrong`: kernels that the device
// computes wrongly; null: none is known.
//
// A node may be in several matches, such as a depthwise convolution between two 1x1 convolutions:
//
//   1x1 --> depthwise --> 1x1        the nodes of both: the predicted time in total is that of one kernel and
//   [   expand       ]               of the remaining node
//           [    separable    ]
//
// Those of the lowest rank are taken, in execution order. With DeviceTraits::compares_fusions one is not
// taken if another that ends at one of its first nodes takes clearly less time in total.
void fuse(Graph& graph, const DeviceCaps& caps, Precision precision, const WrongKernels* wrong = nullptr);

}  // namespace vellum

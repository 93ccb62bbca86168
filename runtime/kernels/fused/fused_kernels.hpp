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
  size_t index = 0;             // the node that `node` replaces
  Node node;                    // its operator is FusedNodes
  std::vector<size_t> removed;  // the other matched nodes, which are removed
  // Predicted microseconds of the fused kernel, and of each node as a kernel of its own. 0 and empty: no
  // model predicts them.
  double us = 0;
  std::vector<NodeTime> layers = {};
};

// A function that returns the match whose last node in execution order is at `index`. It returns nothing if
// there is no match, or if the device gains nothing by fusion. It does not change the graph.
using MatchFused = std::optional<FusedMatch> (*)(const GraphEditor& editor, size_t index,
                                                 const FusionContext& context);

// A row of fused_kernels.def, which describes the columns. find_lowering() returns the lowering.
struct FusedKernel {
  FusedKernelId id = {};
  int rank = 0;
  bool falls_back = false;
  MatchFused match = nullptr;
};

// Replaces groups of nodes that one kernel should compute on the device by one node with FusedNodes. The
// result depends on the device, so this is no pass of optimise(). All shapes must be known. The ids of values
// stay the same. `wrong`: kernels whose results are wrong on the device; null: none is known.
//
// A node may belong to several matches, such as a depthwise convolution between two 1x1 convolutions:
//
//   1x1 --> depthwise --> 1x1
//   [   expand       ]               total time: expand kernel + the second 1x1
//           [    separable    ]      total time: separable kernel + the first 1x1
//
// Matches are applied in ascending order of rank, and within a rank in execution order. With
// DeviceTraits::compares_fusions a match is skipped if another match, which ends at one of its earlier nodes,
// is predicted to take clearly less time in total.
void fuse(Graph& graph, const DeviceCaps& caps, Precision precision, const WrongKernels* wrong = nullptr);

}  // namespace vellum

// Chooses kernels for a whole program so that it has fewer pipelines. If each layer used its fastest kernel,
// layers of similar shapes would get tiles of slightly different sizes, and a driver needs milliseconds to
// compile the pipeline of each tile.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "kernels/framework/candidate.hpp"

namespace vellum {

// One way to lower a node: the candidates of its choices, in order.
struct NodeLowering {
  std::vector<KernelName> kernels;
  double us = 0;               // predicted time
  std::set<size_t> pipelines;  // numbers of the pipelines that it needs
};

// Returns for each node the index of the lowering to use. The first lowering of a node is its fastest. All
// nodes together should take at most `most_us` longer than with their first lowerings.
//
// A greedy search. A pipeline is removed if every node that needs it has another lowering whose pipelines
// remain; the removal that costs the least time comes first. A pipeline that no node uses by default is added
// if two others can then be removed.
std::vector<size_t> share_pipelines(const std::vector<std::vector<NodeLowering>>& lowerings, double most_us);

}  // namespace vellum

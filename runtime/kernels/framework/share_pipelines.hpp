// Chooses kernels for a whole program so that it has fewer pipelines. If each layer uses its fastest kernel,
// layers of similar shapes get tiles of slightly different sizes, and each is a pipeline that a driver
// compiles for milliseconds.
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
// A greedy search: a pipeline is removed if every node that needs it has another lowering with remaining
// pipelines, those that cost least time first. A pipeline that no node uses by default is added if it allows
// two others to be removed.
std::vector<size_t> share_pipelines(const std::vector<std::vector<NodeLowering>>& lowerings, double most_us);

}  // namespace vellum

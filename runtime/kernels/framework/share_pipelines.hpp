// Chooses kernels for a whole program so that it has fewer pipelines. Layer by layer each takes the quickest
// kernel, and layers of similar shapes end up with tiles of slightly different sizes, each a pipeline that a
// driver compiles for milliseconds.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "kernels/framework/candidate.hpp"

namespace vellum {

// How a node may be lowered: the candidates of its choices, in their order.
struct NodeLowering {
  std::vector<KernelName> kernels;
  double us = 0;               // predicted
  std::set<size_t> pipelines;  // numbers of those that it needs
};

// Returns the lowering that each node should take, of those listed for it. The first is the quickest; a node
// with one stays as it is. All nodes together should take at most `most_us` longer than with their first
// ones.
//
// A pipeline is left out where every node that needs it has a lowering with pipelines that remain; the
// cheapest first. Taking in a pipeline that no node has by default counts where two can be left out for it.
std::vector<size_t> share_pipelines(const std::vector<std::vector<NodeLowering>>& lowerings, double most_us);

}  // namespace vellum

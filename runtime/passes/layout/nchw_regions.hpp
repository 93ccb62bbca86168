// Where converting images from N, H, W, C to N, C, H, W saves transpositions.
#pragma once

#include <optional>
#include <vector>

#include "passes/layout/nchw_form.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

struct NchwPlan {
  // By node: the form of each node to convert.
  std::vector<std::optional<NchwForm>> forms;
  // By value: whether it is a graph output, or a node that is not converted reads it.
  std::vector<bool> needs_nhwc;
};

// Nodes that have an NCHW form and are connected by images are a region. Converting a region removes
// transpositions at its border and adds others. It is converted where that makes them fewer, or keeps their
// number and a window operator is on the other side of one of them: the region can be fused with that
// operator then, and the transpositions left are nearer to the graph's inputs and outputs.
NchwPlan plan_nchw(const GraphEditor& editor);

}  // namespace vellum

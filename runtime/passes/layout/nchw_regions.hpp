// Finds regions in which converting images from N, H, W, C to N, C, H, W saves transpositions.
#pragma once

#include <optional>
#include <vector>

#include "passes/layout/nchw_form.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Which nodes to convert to N, C, H, W.
struct NchwPlan {
  // Per node: its form if it is to be converted.
  std::vector<std::optional<NchwForm>> forms;
  // Per value: whether it is a graph output or is read by a node that is not converted.
  std::vector<bool> needs_nhwc;
};

// A region is a set of nodes that have an NCHW form and are connected by images. Converting it removes some
// transpositions at its border and adds others. A region is converted if that reduces their number. It is
// also converted if the number stays equal and a window operator is on the other side of a removed
// transposition: the region can then be fused with that operator, and the remaining transpositions are nearer
// to the graph's inputs and outputs.
NchwPlan plan_nchw(const GraphEditor& editor);

}  // namespace vellum

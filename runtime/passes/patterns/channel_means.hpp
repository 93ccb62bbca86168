// Nodes that compute the mean of each channel.
#pragma once

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Returns whether the tensor has spatial dimensions, at most two, and a single position.
bool has_one_position(const Shape& shape);

// Returns whether the node computes the means over all spatial dimensions of its first input, which it keeps
// as dimensions of 1: a global average pool, a reduction, or a pool with a window of the whole picture.
bool computes_means(const GraphEditor& editor, size_t index);

}  // namespace vellum

// Operators that compute each image of a batch by itself: the operator that computes some of the images.
// Rows of operator_rows.hpp are images here.
#pragma once

#include <memory>
#include <vector>

#include "passes/tile/operator_rows.hpp"

namespace vellum {

// Whether images of all outputs can be computed apart from the others. Shapes must be known. False where
// there is but one, and for operators whose kernels are chosen by how many there are.
bool has_images(const Graph& graph, const Node& node);

// For a node that has images, per input.
std::vector<RowsRead> images_read(const Graph& graph, const Node& node, const Rows& computed);

// The operator that computes this number of images of a node that has images.
std::shared_ptr<const Operator> operator_for_images(const Graph& graph, const Node& node, int64_t count);

}  // namespace vellum

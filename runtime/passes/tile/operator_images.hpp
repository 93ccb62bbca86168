// Finds operators that compute each image of a batch separately, and makes the operator that computes some of
// the images. operator_rows.hpp does so for rows; here `Rows` are ranges of images.
#pragma once

#include <memory>
#include <vector>

#include "passes/tile/operator_rows.hpp"

namespace vellum {

// Returns whether the images of all outputs can be computed separately. Shapes must be known. False for a
// single image, and for operators whose choice of kernel depends on the number of images.
bool has_images(const Graph& graph, const Node& node);

// Returns for each input the images that the node reads to compute `computed`. Requires has_images().
std::vector<RowsRead> images_read(const Graph& graph, const Node& node, const Rows& computed);

// Returns the operator that computes `count` images of the node. Requires has_images().
std::shared_ptr<const Operator> operator_for_images(const Graph& graph, const Node& node, int64_t count);

}  // namespace vellum

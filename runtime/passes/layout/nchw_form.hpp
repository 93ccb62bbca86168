// Converts operators on images in N, H, W, C to operators on images in N, C, H, W.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace vellum {

inline constexpr size_t kImageRank = 4;

// Transpositions of images, from one layout to the other.
bool is_transpose_to_nhwc(const Operator& op);
bool is_transpose_to_nchw(const Operator& op);
std::shared_ptr<const Operator> transpose_to_nhwc();
std::shared_ptr<const Operator> transpose_to_nchw();

// Permutes a shape from N, H, W, C to N, C, H, W.
Shape to_nchw(const Shape& shape);
// Converts a constant that broadcasts to an image in N, H, W, C to one that broadcasts to the image in N, C,
// H, W. Its rank is at most 4; a scalar is returned unchanged.
HostTensor to_nchw(const HostTensor& constant);

// The operator in N, C, H, W that is equivalent to a node in N, H, W, C.
struct NchwForm {
  std::shared_ptr<const Operator> op;
  size_t image_inputs = 0;                  // number of leading inputs that are images, to be converted
  std::vector<HostTensor> parameters = {};  // constant inputs after the images
};

// Returns nothing if the node has no such form, because it depends on the order of its elements or a computed
// input is no image.
std::optional<NchwForm> nchw_form(const Graph& graph, const Node& node);

}  // namespace vellum

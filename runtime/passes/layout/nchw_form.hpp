// Operators on images in N, H, W, C as operators on the same images in N, C, H, W.
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

// A shape in N, H, W, C as one in N, C, H, W.
Shape to_nchw(const Shape& shape);
// A constant that broadcasts to an image in N, H, W, C, as one that broadcasts to the image in N, C, H, W.
// Its rank is 4 at most; a scalar stays as it is.
HostTensor to_nchw(const HostTensor& constant);

// An operator that computes from images in N, C, H, W what a node computes in N, H, W, C.
struct NchwForm {
  std::shared_ptr<const Operator> op;
  size_t image_inputs = 0;  // the first inputs of the node, which are converted
  std::vector<HostTensor> parameters = {};  // constants that are the inputs after them
};

// Nothing where the node has no such form: it depends on the order of its elements, or a computed input is no
// image.
std::optional<NchwForm> nchw_form(const Graph& graph, const Node& node);

}  // namespace vellum

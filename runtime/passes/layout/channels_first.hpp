// Operators on images in N, H, W, C as operators on the same images in N, C, H, W.
#pragma once

#include <memory>
#include <optional>

#include "graph/graph.hpp"

namespace vellum {

inline constexpr size_t kImageRank = 4;

// Transpositions of images: to N, H, W, C and back.
bool is_to_channels_last(const Node& node);
bool is_to_channels_first(const Node& node);
std::shared_ptr<const Operator> to_channels_last();
std::shared_ptr<const Operator> to_channels_first();

// N, H, W, C as N, C, H, W.
Shape channels_first(const Shape& shape);
// A constant that broadcasts to an image; of rank 4 at most.
HostTensor channels_first(const HostTensor& constant);

// What the node becomes when its image inputs and its output are turned: the operator, its first so many
// inputs turned (the others have become attributes or parameters), and constants behind them. Nothing where
// the operator does not allow it: it depends on the order of elements, or an input that is no constant is no
// image of rank 4.
struct TurnedOperator {
  std::shared_ptr<const Operator> op;
  size_t inputs = 0;
  std::vector<HostTensor> parameters = {};
};
std::optional<TurnedOperator> turned(const Graph& graph, const Node& node);

}  // namespace vellum

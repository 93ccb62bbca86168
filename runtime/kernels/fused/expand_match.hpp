// Finds a 1x1 convolution and the depthwise convolution after it, with the tables of their results.
#pragma once

#include <optional>

#include "kernels/fused/fused_kernels.hpp"

namespace vellum {

struct ExpandLayers {
  FusedMatch match;
  size_t pointwise = 0, depthwise = 0;  // the nodes of the convolutions
};

// Matches the layers that end with the node at `index`, even if the device gains nothing.
std::optional<ExpandLayers> match_expand_layers(const GraphEditor& editor, size_t index);

}  // namespace vellum

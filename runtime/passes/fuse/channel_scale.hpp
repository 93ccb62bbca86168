// Products of a tensor with computed factors, one for each channel, that a Conv can take as an input.
#pragma once

#include <cstddef>

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Returns whether the node is a Conv whose kernel can scale its input's channels, and round them if `rounds`:
// with windows of one pixel over all channels.
bool can_scale_input(const GraphEditor& editor, size_t index, bool rounds);

// Returns whether `scale` is computed and has one factor per channel of x, which has more than one position.
bool is_channel_scale(const GraphEditor& editor, ValueId scale, ValueId x);

}  // namespace vellum

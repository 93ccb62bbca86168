// y = scale[c] * x + shift[c] after a linear operator, absorbed into that operator's weights and bias.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "passes/rewrite/editor.hpp"

namespace vellum {

struct ChannelAffine {
  std::vector<double> scale, shift;  // one entry per channel (dimension 1)
};

// The elements of `constant`, one per channel of a tensor of shape `data`, where broadcasting it over `data`
// depends on nothing but the channel and leaves the shape alone.
std::optional<std::vector<double>> per_channel(const HostTensor& constant, const Shape& data);

// Removes node `index`, which computes `affine` of its input `slot`, where that input comes from a Conv,
// ConvTranspose or Gemm with constant weights that nobody else reads and that has no activation: those get
// new weights and bias, and take over the node's output. False where that cannot be done.
bool absorb(GraphEditor& editor, size_t index, size_t slot, const ChannelAffine& affine);

}  // namespace vellum

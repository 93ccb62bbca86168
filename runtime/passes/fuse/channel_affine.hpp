// y = scale[c] * x + shift[c] after a linear operator (Conv, ConvTranspose, Gemm), folded into its weights
// and bias.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "passes/rewrite/match.hpp"

namespace vellum {

struct ChannelAffine {
  std::vector<double> scale, shift;  // one element per channel (dimension 1)
};

// The elements of `constant`, one per channel of a tensor of shape `data`; nothing where broadcasting it over
// `data` depends on more than the channel or changes the shape.
std::optional<std::vector<double>> per_channel(const HostTensor& constant, const Shape& data);

// Removes node `index`, which computes `affine` of its input `slot`, and folds it into the linear operator
// that computes this input: that gets new weights and a new bias, and computes the node's output. Returns
// false and changes nothing where the linear operator has an activation, computed weights or another reader.
bool fold_affine(GraphEditor& editor, size_t index, size_t slot, const ChannelAffine& affine);

// The function of each channel that an operator with a constant computes, for a tensor of shape `data`;
// nothing if it is not affine.
using AffineRule = std::optional<ChannelAffine> (*)(const BinaryConstant& binary, const Shape& data);

// Folds every operator on a constant that the rule finds affine.
void fold_binary_constants(Graph& graph, AffineRule rule);

}  // namespace vellum

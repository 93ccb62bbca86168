// Folds y = scale[c] * x + shift[c] into the weights and bias of the linear operator before it (Conv,
// ConvTranspose, Gemm).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "passes/rewrite/match.hpp"

namespace vellum {

// y = scale[c] * x + shift[c].
struct ChannelAffine {
  std::vector<double> scale, shift;  // one element per channel (dimension 1)
};

// Returns one element of `constant` for each channel of a tensor of shape `data`. Returns nothing if
// `constant`, broadcast to `data`, varies along other dimensions or changes the shape.
std::optional<std::vector<double>> per_channel(const HostTensor& constant, const Shape& data);

// Returns the function of each channel that node `index` applies if it is a BatchNormalization of constants
// without an activation.
std::optional<ChannelAffine> affine_of_norm(const GraphEditor& editor, size_t index);

// Removes node `index`, which applies `affine` to its input `slot`, and folds it into the linear operator
// that computes this input. That operator gets new weights and a new bias, and computes the node's output.
// Returns false, and changes nothing, if the linear operator has an activation, computed weights or another
// reader.
bool fold_affine(GraphEditor& editor, size_t index, size_t slot, const ChannelAffine& affine);

// Returns the function of each channel that an operator with a constant applies to a tensor of shape `data`.
// Returns nothing if the function is not affine.
using AffineRule = std::optional<ChannelAffine> (*)(const BinaryConstant& binary, const Shape& data);

// Folds every operator with a constant that is affine by the rule.
void fold_binary_constants(Graph& graph, AffineRule rule);

}  // namespace vellum

// Binary operators of a tensor and a constant.
#pragma once

#include <cstddef>
#include <optional>

#include "graph/operators/binary.hpp"
#include "passes/fuse/channel_affine.hpp"
#include "passes/rewrite/editor.hpp"

namespace vellum {

struct BinaryConstant {
  const Binary* op = nullptr;
  size_t data_slot = 0;  // the other input is the constant
  const HostTensor* constant = nullptr;
};

// Node `index` as a float operator without activation on one constant and one other input of the output's
// type.
std::optional<BinaryConstant> as_binary_constant(const GraphEditor& editor, size_t index);

// What such an operator computes of each channel, given the shape of its output; nullopt where it is not
// affine.
using AffineOf = std::optional<ChannelAffine> (*)(const BinaryConstant& binary, const Shape& data);

// Absorbs every operator of that kind into the linear operator before it, where that can be done.
void absorb_binary_constants(Graph& graph, AffineOf affine_of);

}  // namespace vellum

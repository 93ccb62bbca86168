// Split-K: several invocations share each sum, each of some of the products. Another dispatch reduces the
// partial sums (shaders/matmul/sum_parts.comp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/operators/activation.hpp"
#include "kernels/conv/tile.hpp"

namespace vellum {

// The cost of split-K relative to whole sums, where the device's policy predicts that it is quicker. Not
// measured on a GPU.
inline constexpr double kSplitKCost = 0.5;

struct PricedSplitTile {
  InvocationTile tile;
  double cost = kSplitKCost;
};

// Returns the split tile that the device's policy prefers for sums over `input_slices` slices of input
// channels, and one of the whole sums' tile; none if whole sums are as quick.
std::vector<PricedSplitTile> split_tiles(const DeviceCaps& caps, const TileDemand& demand,
                                         int64_t input_slices);

// The result of a dispatch's sums: y = activation(sums + residual); the residual is optional.
struct SumTarget {
  TensorId y = kNoTensor;
  Activation activation;
  TensorId residual = kNoTensor;
};

// Returns the target of a dispatch whose sums are split among `split_k` invocations: a workspace of the
// partial sums, one after another like images of a larger batch. Returns `whole` if sums are not split.
SumTarget partial_sums(Lowering& lowering, const SumTarget& whole, int64_t split_k);

// Adds the dispatch that reduces the partial sums to `whole`, unless both are the same.
void reduce_partial_sums(Lowering& lowering, const SumTarget& partial, const SumTarget& whole);

}  // namespace vellum

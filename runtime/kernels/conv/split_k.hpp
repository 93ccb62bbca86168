// Split-K: several invocations share each sum, each of some of the products. Another dispatch reduces the
// partial sums (shaders/sum_parts.comp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/operators/activation.hpp"
#include "kernels/conv/tile.hpp"

namespace vellum {

// Splits are for what is too small for a GPU: whole sums would leave most of it idle, or with tiles as narrow
// as it then wants load several times as much. Not measured on a GPU.
inline constexpr double kSplitKCost = 0.5;

struct SplitTile {
  InvocationTile tile;
  double cost = kSplitKCost;
};

// For a window of one pixel, where sums go over so many slices of input channels; nothing where whole sums
// keep the device busy.
std::optional<InvocationTile> split_pointwise_tile(const DeviceCaps& caps, const TileDemand& demand,
                                                   int64_t input_slices);
// For windows of so many taps.
std::vector<SplitTile> split_window_tiles(const DeviceCaps& caps, const TileDemand& demand,
                                          int64_t input_slices, int64_t taps);

// What a dispatch makes of its sums: y = activation(sums + residual), which may be absent.
struct SumTarget {
  TensorId y = kNoTensor;
  Activation activation;
  TensorId residual = kNoTensor;
};

// What a dispatch writes whose sums are split among `split_k` invocations: a workspace of the partial sums,
// one after the other like images of a larger batch. `whole` itself where sums are not split.
SumTarget partial_sums(Lowering& lowering, const SumTarget& whole, int64_t split_k);

// Then makes `whole` of them, if it is not the same.
void reduce_partial_sums(Lowering& lowering, const SumTarget& partial, const SumTarget& whole);

}  // namespace vellum

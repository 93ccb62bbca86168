// Convolutions and matrix products by cooperative matrices.
#pragma once

#include "kernels/conv_weights.hpp"

namespace vellum {

// As push_window() in conv.cpp has them, (x, y) each.
struct CooperativeWindow {
  int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1}, padding[2] = {0, 0};
};

// y = activation(conv(x) + bias + residual) of halves in channels4, for a tile that has `cooperative`.
// `weights` is without groups.
void dispatch_cooperative(Lowering& lowering, TensorId x, TensorId y, const ConvWeights& weights,
                          const CooperativeTile& tile, const CooperativeWindow& window,
                          const Activation& activation, WeightValues values, const PointwiseExtras& extras);

}  // namespace vellum

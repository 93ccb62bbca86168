// Convolutions and matrix products by cooperative matrices.
#pragma once

#include "kernels/conv/dispatch.hpp"

namespace vellum {

// y = activation(conv(x) + bias + residual) of halves in channels4, for a tile that has `cooperative`.
// `weights` is without groups.
void dispatch_cooperative(Lowering& lowering, TensorId x, TensorId y, const ConvWeights& weights,
                          const CooperativeTile& tile, const Window2d& window, const Activation& activation,
                          WeightValues values, const ConvExtras& extras);

}  // namespace vellum

// Convolutions with windows of one pixel, and matrix products whose rows are pixels.
#pragma once

#include "kernels/conv/dispatch.hpp"

namespace vellum {

// y = activation(x * weights + bias + residual), all in channels4, for each pixel of x:
// shaders/conv_pointwise.comp. `values` gives the texels of `weights`.
void dispatch_pointwise(Lowering& lowering, TensorId x, TensorId y, const ConvWeights& weights,
                        const ConvTile& tile, const Activation& activation, WeightValues values,
                        const ConvExtras& extras = {});

// For a Conv whose window is_pointwise(), without groups.
void lower_pointwise(Lowering& lowering, const Activation& activation);

}  // namespace vellum

// Squeeze-and-excitation in one workgroup for each image (shaders/reduction/squeeze_excite.comp).
#pragma once

#include "graph/operators/reduction/squeeze_excite.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

struct SqueezeSizes {
  int64_t images, inputs, hidden, outputs, pixels;
};

// Returns whether one workgroup is faster than dispatches of many, the means included.
bool is_for_a_workgroup(const DeviceCaps& caps, const SqueezeSizes& sizes);

// y = gate(W2 hidden(W1 mean(x) + B1) + B2). W1, B1, W2 and B2 are the node's inputs from `weights` on.
void squeeze_in_a_workgroup(Lowering& lowering, const SqueezeExcite& op, const SqueezeSizes& sizes,
                            TensorId x, size_t weights, TensorId y);

}  // namespace vellum

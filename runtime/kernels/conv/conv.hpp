// The lowering of convolutions in one and two dimensions.
#pragma once

#include "kernels/framework/lowering.hpp"

namespace vellum {

// Emits the best kernel for the Conv that is being lowered, or for the one that layer_of() returns.
void lower_planes(Lowering& lowering);

}  // namespace vellum

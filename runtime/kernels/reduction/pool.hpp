// Pools over windows of pictures (shaders/reduction/pool.comp).
#pragma once

#include "graph/operators/reduction/pool.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// y = pool(x), both in channels4.
void dispatch_pool(Lowering& lowering, const Pool& op, const WindowPlacement& window, TensorId x, TensorId y);

}  // namespace vellum

// A quantised layer and the function of its results in one kernel.
#pragma once

#include <memory>

#include "graph/operators/fused/fused_nodes.hpp"

namespace vellum {

// Makes the operator y = table(layer(X, W, B, residual, scale)), whose input kResultTable is the table of a
// ByteTable. `layer`: a Conv, or a Gemm, which has no scale. B, the residual and the scale are optional.
std::shared_ptr<const FusedNodes> table_nodes(std::shared_ptr<const Operator> layer,
                                              std::shared_ptr<const Operator> table);

}  // namespace vellum

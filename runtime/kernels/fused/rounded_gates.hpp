// Squeeze-and-excitation of a quantised model in one workgroup for each image: means of channels, two
// products of these means, and roundings and tables between them (shaders/reduction/squeeze_excite.comp).
#pragma once

#include <memory>

#include "graph/operators/elementwise/byte_table.hpp"
#include "graph/operators/fused/fused_nodes.hpp"

namespace vellum {

// A convolution of tensors with one position, and the function of its rounded results, if it has one.
struct GateLayer {
  std::shared_ptr<const Operator> conv, table;
};

// Makes the operator with the inputs X, W1, B1, W2, B2, T1 and T2:
//   hidden = T1[conv(round(mean(X)), W1, B1)],   y = T2[conv(hidden, W2, B2)]
// Biases are optional. T1 and T2 are the tables of a ByteTable; each is omitted with the layer's `table`.
std::shared_ptr<const FusedNodes> rounded_gates_nodes(std::shared_ptr<const Operator> rounding,
                                                      const GateLayer& hidden, const GateLayer& gate);

}  // namespace vellum

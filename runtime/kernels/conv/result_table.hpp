// Convolutions and products whose rounded results a table maps to others: the function after a quantised
// layer (kernels/fused/table.cpp).
#pragma once

#include "graph/operators/elementwise/activation.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// The input of the FusedNodes that is the table; the inputs before it are those of Conv and Gemm.
constexpr size_t kResultTable = 5;

// Returns the Conv or Gemm of FusedNodes with a table, and any other operator as it is.
const Operator& layer_of(const Operator& op);

// Defines the activation, and binds the table if the node being lowered has one. Each kernel that computes a
// Conv or a Gemm with constant weights calls it.
void define_results(Lowering& lowering, Dispatch& dispatch, const Activation& activation);

}  // namespace vellum

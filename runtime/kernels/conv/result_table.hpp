// Convolutions and products whose rounded results a table maps to others: the function after a quantised
// layer (kernels/fused/table.cpp).
#pragma once

#include <vector>

#include "graph/operators/elementwise/activation.hpp"
#include "graph/operators/elementwise/byte_table.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// The input of the FusedNodes that is the table; the inputs before it are those of Conv and Gemm.
constexpr size_t kResultTable = 5;

// Returns the Conv or Gemm of FusedNodes with a table, and any other operator as it is.
const Operator& layer_of(const Operator& op);

// Returns whether all results of a layer with this activation are numbers of the table.
bool rounds_to_numbers_of(const ByteTable& table, const Activation& activation);

// Returns the entries of a table, from the entry of the activation's least result on.
std::vector<float> entries_from(const HostTensor& table, const ByteTable& op, const Activation& activation);

// Returns a weight with the entries of two tables, 256 each. Either may be empty.
TensorId pair_of_tables(Lowering& lowering, std::vector<float> first, std::vector<float> second);

// Defines the activation, and binds the table if the node being lowered has one. Each kernel that computes a
// Conv or a Gemm with constant weights calls it.
void define_results(Lowering& lowering, Dispatch& dispatch, const Activation& activation);

}  // namespace vellum

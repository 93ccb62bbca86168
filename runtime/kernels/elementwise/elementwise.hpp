// Elementwise functions of two tensors, and conversions: building blocks of other kernel files.
#pragma once

#include <string>

#include "graph/operators/elementwise/activation.hpp"
#include "graph/operators/elementwise/byte_table.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

inline constexpr size_t kMaxElementwiseRank = 6;  // loops in binary.comp and binary_integer.comp

// An operand of an elementwise function: a tensor, and the shape in which it is read. For a linear tensor the
// shape may differ from the tensor's own.
struct Operand {
  TensorId tensor;
  Shape shape;
};

// Returns `shape` with leading dimensions of 1.
Shape padded_to_rank(const Shape& shape, size_t rank);

// y = activation(function(a, b)) with numpy's broadcasting, all in `layout`, of at most kMaxElementwiseRank
// dimensions. `function`: a function of shaders/elementwise/binary.glsl. `fixed_point`: not empty if the
// function computes integers of quantised operands.
void combine(Lowering& lowering, const std::string& function, const Activation& activation, Layout layout,
             const Operand& a, const Operand& b, const Operand& y, const FixedPair& fixed_point = {});

// y = entries of the table that x selects, both in `layout`.
void look_up(Lowering& lowering, const ByteTable& op, const HostTensor& entries, Layout layout, TensorId x,
             TensorId y);

// y = function(a, b), all linear; y has integers of `dtype`. `function`: a function of
// shaders/elementwise/integer.glsl.
void combine_integers(Lowering& lowering, const std::string& function, DType dtype, const Operand& a,
                      const Operand& b, const Operand& y);
// y = function(x), both linear and of integers; y has integers of `dtype`.
void map_integers(Lowering& lowering, const std::string& function, DType dtype, TensorId x, TensorId y);

// Returns x as 32-bit floats: x itself if its elements are floats.
TensorId as_floats(Lowering& lowering, TensorId x);

}  // namespace vellum

// Functions of two tensors, and conversions: building blocks of other kernel files.
#pragma once

#include <string>

#include "graph/operators/elementwise/activation.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

inline constexpr size_t kMaxElementwiseRank = 6;  // of the loops in binary.comp and binary_integer.comp

// An operand of an elementwise function: a tensor with a shape, which may differ from the tensor's own if it
// is linear.
struct Operand {
  TensorId tensor;
  Shape shape;
};

// `shape` with ones before it.
Shape padded_to_rank(const Shape& shape, size_t rank);

// y = activation(function(a, b)) with numpy's broadcasting, all in `layout`; a function of
// shaders/elementwise/binary.glsl. At most kMaxElementwiseRank dimensions.
void combine(Lowering& lowering, const std::string& function, const Activation& activation, Layout layout,
             const Operand& a, const Operand& b, const Operand& y);

// y = function(a, b), all linear, y of integers of `dtype`; a function of shaders/elementwise/integer.glsl.
void combine_integers(Lowering& lowering, const std::string& function, DType dtype, const Operand& a,
                      const Operand& b, const Operand& y);
// y = function(x), both linear and of integers (y of `dtype`).
void map_integers(Lowering& lowering, const std::string& function, DType dtype, TensorId x, TensorId y);

// Returns x as 32-bit floats: x itself if its elements are floats.
TensorId as_floats(Lowering& lowering, TensorId x);

// A linear temporary of floats of 32 bits, or of integers.
TensorId float_workspace(Lowering& lowering, const std::string& name, Shape shape);
TensorId integer_workspace(Lowering& lowering, const std::string& name, Shape shape);
// A linear weight of floats of 32 bits.
TensorId float_weight(Lowering& lowering, const std::string& name, Shape shape, std::vector<float> values);

}  // namespace vellum

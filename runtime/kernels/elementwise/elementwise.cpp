#include "kernels/elementwise/elementwise.hpp"

#include <algorithm>

#include "graph/operator_support.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/strided.hpp"
#include "shaders/elementwise/binary.h"
#include "shaders/elementwise/binary_integer.h"
#include "shaders/elementwise/binary_linear.h"
#include "shaders/elementwise/cast.h"
#include "shaders/elementwise/unary_integer.h"

namespace vellum {

namespace {

// Returns whether the shader can decode one index for four elements of y.
bool is_grouped(const LoopNest& nest) {
  if (nest.dims.size() > 1 && nest.dims.back() % 4 != 0) return false;
  for (const auto& strides : nest.strides) {
    if (strides.back() > 1) return false;
    for (size_t d = 0; d + 1 < strides.size(); ++d)
      if (strides.back() == 1 && strides[d] % 4 != 0) return false;
  }
  return true;
}

LoopNest loops_of(const Operand& a, const Operand& b, const Operand& y) {
  return collapse({y.shape, {broadcast_strides(a.shape, y.shape), broadcast_strides(b.shape, y.shape)}});
}

Binding reads_operand(std::string name, const Operand& operand, const Operand& y) {
  return operand.shape == y.shape ? reads_in_place(std::move(name), operand.tensor)
                                  : reads(std::move(name), operand.tensor);
}

std::vector<Binding> operands_and_result(const Operand& a, const Operand& b, const Operand& y) {
  return {reads_operand("a", a, y), reads_operand("b", b, y), writes("y", y.tensor)};
}

static_assert(decltype(BinaryLinearParameters::dims)::size() == kMaxElementwiseRank);
static_assert(decltype(BinaryIntegerParameters::dims)::size() == kMaxElementwiseRank);

// Returns by how many bits results are shifted up and down again, so that a type of less than 32 bits wraps
// around.
int64_t spare_bits(DType dtype) {
  const size_t bytes = size_of(dtype);
  return bytes >= 4 ? 0 : static_cast<int64_t>(32 - 8 * bytes);
}

bool is_unsigned(DType dtype) {
  return dtype == DType::u8 || dtype == DType::u16 || dtype == DType::u32 || dtype == DType::u64;
}

}  // namespace

Shape padded_to_rank(const Shape& shape, size_t rank) {
  Shape result(rank, 1);
  std::copy(shape.begin(), shape.end(), result.begin() + static_cast<std::ptrdiff_t>(rank - shape.size()));
  return result;
}

void combine(Lowering& lowering, const std::string& function, const Activation& activation, Layout layout,
             const Operand& a, const Operand& b, const Operand& y, const FixedPair& fixed_point) {
  Parameters parameters;
  Grid grid;
  if (layout == Layout::channels4) {
    const size_t rank = y.shape.size();
    parameters = BinaryParameters{.activation_params = activation_params(activation),
                                  .y_shape = texel_shape(y.shape),
                                  .a_shape = texel_shape(padded_to_rank(a.shape, rank)),
                                  .b_shape = texel_shape(padded_to_rank(b.shape, rank))};
    grid = grid_of_texels(lowering.caps(), y.shape);
  } else {
    const LoopNest nest = loops_of(a, b, y);
    parameters = BinaryLinearParameters{.activation_params = activation_params(activation),
                                        .count = element_count(y.shape),
                                        .grouped = is_grouped(nest),
                                        .rank = nest.dims.size(),
                                        .dims = nest.dims,
                                        .a_strides = nest.strides[0],
                                        .b_strides = nest.strides[1]};
    grid = grid_1d(lowering.caps(), groups_of_four(y.shape));
  }
  Dispatch dispatch = make_dispatch("binary", grid, operands_and_result(a, b, y), std::move(parameters));
  define(dispatch, "FUNCTION", function);
  define_activation(dispatch, activation);
  if (fixed_point) {
    dispatch.appended.emplace_back("fixed_a_step", fixed_point.a_step);
    append_fixed_pair(dispatch, fixed_point);
  }
  if (layout == Layout::linear)
    define(dispatch, "LINEAR_LAYOUT");
  else if (a.shape != y.shape || b.shape != y.shape)
    define(dispatch, "BROADCAST");
  lowering.dispatch(std::move(dispatch));
}

void combine_integers(Lowering& lowering, const std::string& function, DType dtype, const Operand& a,
                      const Operand& b, const Operand& y) {
  const LoopNest nest = loops_of(a, b, y);
  Dispatch dispatch = make_dispatch("binary_integer", grid_1d(lowering.caps(), groups_of_four(y.shape)),
                                    operands_and_result(a, b, y),
                                    BinaryIntegerParameters{.count = element_count(y.shape),
                                                            .rank = nest.dims.size(),
                                                            .spare_bits = spare_bits(dtype),
                                                            .dims = nest.dims,
                                                            .a_strides = nest.strides[0],
                                                            .b_strides = nest.strides[1]});
  define(dispatch, "FUNCTION", function);
  if (lowering.tensor(a.tensor).desc.element == ElementType::i32) define(dispatch, "A_VECTOR", "ivec4");
  if (lowering.tensor(b.tensor).desc.element == ElementType::i32) define(dispatch, "B_VECTOR", "ivec4");
  if (is_unsigned(dtype)) define(dispatch, "UNSIGNED");
  lowering.dispatch(std::move(dispatch));
}

void map_integers(Lowering& lowering, const std::string& function, DType dtype, TensorId x, TensorId y) {
  const int64_t count4 = groups_of_four(lowering.tensor(y).desc.shape);
  Dispatch dispatch = make_dispatch(
      "unary_integer", grid_1d(lowering.caps(), count4), {reads_in_place("x", x), writes("y", y)},
      UnaryIntegerParameters{.count4 = count4, .spare_bits = spare_bits(dtype)});
  define(dispatch, "FUNCTION", function);
  if (is_unsigned(dtype)) define(dispatch, "UNSIGNED");
  lowering.dispatch(std::move(dispatch));
}

TensorId as_floats(Lowering& lowering, TensorId x) {
  if (lowering.tensor(x).desc.element != ElementType::i32) return x;
  const Shape shape = lowering.tensor(x).desc.shape;
  const TensorId y = float_workspace(lowering, "floats", shape);
  const int64_t count4 = groups_of_four(shape);
  Dispatch dispatch =
      make_dispatch("cast", grid_1d(lowering.caps(), count4), {reads_in_place("x", x), writes("y", y)},
                    CastParameters{.count4 = count4, .low = 0, .high = 0});
  define(dispatch, "FROM_INTEGER");
  lowering.dispatch(std::move(dispatch));
  return y;
}

}  // namespace vellum

// Functions of two (and of several) tensors with numpy broadcasting.
#include "graph/binary.hpp"

#include <algorithm>

#include "kernels/activation.hpp"
#include "kernels/elements.hpp"
#include "kernels/strided.hpp"

namespace vellum {

namespace {

constexpr size_t kMaxRank = 6;             // of the loops in binary.comp and where.comp
constexpr int64_t kExactConstants = 4096;  // elements up to which a constant stays fp32

Shape padded_to_rank(const Shape& shape, size_t rank) {
  Shape result(rank, 1);
  std::copy(shape.begin(), shape.end(), result.begin() + static_cast<std::ptrdiff_t>(rank - shape.size()));
  return result;
}

// channels4 puts the axes of a tensor by its rank, so that operands computed at run time must have the
// output's.
bool fits_channels4(const Lowering& lowering) {
  const size_t rank = lowering.output_type().shape.size();
  bool lives_there = false;
  for (size_t i = 0; i < lowering.node().inputs.size(); ++i) {
    if (rank > 4) return false;
    if (lowering.constant(i)) continue;
    if (!is_float(lowering.input_type(i).dtype)) return false;
    if (lowering.input_type(i).shape.size() != rank) return false;
    lives_there = lives_there || lives_in_channels4(lowering, i);
  }
  return lives_there;
}

TensorId read_operand(Lowering& lowering, size_t i, Layout layout, size_t rank) {
  const Shape& shape = lowering.input_type(i).shape;
  const bool few = element_count(shape) <= kExactConstants;
  const bool lower_rank = layout == Layout::channels4 && shape.size() < rank;
  const bool as_floats = is_float(lowering.input_type(i).dtype) || is_float(lowering.output_type().dtype);
  if (lowering.constant(i) && as_floats && (few || lower_rank || !is_float(lowering.input_type(i).dtype)))
    return exact_constant(lowering, i, layout,
                          padded_to_rank(shape, layout == Layout::channels4 ? rank : shape.size()));
  return lowering.read(i, layout);
}

struct Operand {
  TensorId tensor;
  Shape shape;
};

// Whether the shader may decode one index for four elements of y.
bool is_grouped(const LoopNest& nest) {
  if (nest.dims.size() > 1 && nest.dims.back() % 4 != 0) return false;
  for (const auto& strides : nest.strides) {
    if (strides.back() > 1) return false;
    for (size_t d = 0; d + 1 < strides.size(); ++d)
      if (strides.back() == 1 && strides[d] % 4 != 0) return false;
  }
  return true;
}

// One dispatch y = activation(function(a, b)), all in `layout`. At most kMaxRank dimensions.
void combine(Lowering& lowering, const std::string& function, const Activation& activation, Layout layout,
             const Operand& a, const Operand& b, const Operand& y) {
  PushConstants constants;
  push_activation(constants, activation);
  Grid grid;
  if (layout == Layout::channels4) {
    const size_t rank = y.shape.size();
    constants.shape(y.shape).shape(padded_to_rank(a.shape, rank)).shape(padded_to_rank(b.shape, rank));
    grid = grid_of_texels(lowering.caps(), y.shape);
  } else {
    const LoopNest nest =
        collapse({y.shape, {broadcast_strides(a.shape, y.shape), broadcast_strides(b.shape, y.shape)}});
    constants.ints({element_count(y.shape), is_grouped(nest), static_cast<int64_t>(nest.dims.size())});
    push_padded(constants, nest.dims, kMaxRank);
    push_padded(constants, nest.strides[0], kMaxRank);
    push_padded(constants, nest.strides[1], kMaxRank);
    grid = grid_1d(lowering.caps(), groups_of_four(y.shape));
  }
  Dispatch dispatch =
      make_dispatch("binary", grid, {reads(a.tensor), reads(b.tensor), writes(y.tensor)}, constants);
  define(dispatch, "FUNCTION", function);
  define_activation(dispatch, activation);
  if (layout == Layout::linear)
    define(dispatch, "LINEAR");
  else if (a.shape != y.shape || b.shape != y.shape)
    define(dispatch, "BROADCAST");
  lowering.dispatch(std::move(dispatch));
}

// An integer constant (Pow's exponent) becomes floats as it is packed.
bool floats(const Lowering& lowering) {
  for (size_t i = 0; i < 2; ++i)
    if (!is_float(lowering.input_type(i).dtype) && !lowering.constant(i)) return false;
  return is_float(lowering.output_type().dtype);
}

// Integers of 32 bits and more; those of the device have 32. Narrower ones would not wrap around in time.
bool computes_on_device(DType dtype, const Binary& op) {
  const bool narrow = dtype == DType::i8 || dtype == DType::u8 || dtype == DType::i16 || dtype == DType::u16;
  const bool wide_unsigned = dtype == DType::u32 || dtype == DType::u64;
  const bool arithmetic = !is_comparison(op.kind) && !is_logical(op.kind);
  return !wide_unsigned && !(arithmetic && narrow) && op.kind != BinaryKind::pow &&
         op.kind != BinaryKind::shift_left && op.kind != BinaryKind::shift_right && !op.activation;
}

// A function whose result is of integers (bool among them), from two tensors of integers or two of floats.
void lower_integer_pair(Lowering& lowering, const std::string& function, const Binary& op) {
  const Shape& shape = lowering.output_type().shape;
  const bool floats_in = is_float(lowering.input_type(0).dtype);
  const LoopNest nest = collapse({shape,
                                  {broadcast_strides(lowering.input_type(0).shape, shape),
                                   broadcast_strides(lowering.input_type(1).shape, shape)}});
  if (floats_in != is_float(lowering.input_type(1).dtype) || nest.dims.size() > kMaxRank ||
      !computes_on_device(lowering.input_type(0).dtype, op))
    return lowering.run_on_host(function + " of these element types or so many dimensions has no kernel");
  const TensorId a = read_operand(lowering, 0, Layout::linear, shape.size());
  const TensorId b = read_operand(lowering, 1, Layout::linear, shape.size());
  const TensorId y = lowering.write(0, Layout::linear);
  PushConstants constants;
  constants.ints({element_count(shape), static_cast<int64_t>(nest.dims.size())});
  push_padded(constants, nest.dims, kMaxRank);
  push_padded(constants, nest.strides[0], kMaxRank);
  push_padded(constants, nest.strides[1], kMaxRank);
  Dispatch dispatch = make_dispatch("binary_integer", grid_1d(lowering.caps(), groups_of_four(shape)),
                                    {reads(a), reads(b), writes(y)}, constants);
  define(dispatch, "FUNCTION", function);
  if (!floats_in) define(dispatch, "INTEGER");
  lowering.dispatch(std::move(dispatch));
}

void lower_pair(Lowering& lowering, const std::string& function, const Activation& activation) {
  const Shape& shape = lowering.output_type().shape;
  if (!floats(lowering)) return lowering.run_on_host(function + " of or to integers has no kernel");
  if (shape.size() > kMaxRank)
    return lowering.run_on_host(function + " of more than six dimensions has no kernel");
  const Layout layout = fits_channels4(lowering) ? Layout::channels4 : Layout::linear;
  const Operand a{read_operand(lowering, 0, layout, shape.size()), lowering.input_type(0).shape};
  const Operand b{read_operand(lowering, 1, layout, shape.size()), lowering.input_type(1).shape};
  combine(lowering, function, activation, layout, a, b, {lowering.write(0, layout), shape});
}

}  // namespace

void lower_binary(Lowering& lowering) {
  const Binary& op = lowering.op<Binary>();
  const std::string function = op.kind == BinaryKind::fmod ? "Fmod" : std::string(op.type());
  if (is_float(lowering.output_type().dtype)) return lower_pair(lowering, function, op.activation);
  lower_integer_pair(lowering, function, op);
}

void lower_variadic(Lowering& lowering) {
  // Min and Max of two tensors are Binary.
  if (dynamic_cast<const Binary*>(lowering.node().op.get())) return lower_binary(lowering);
  const Variadic& op = lowering.op<Variadic>();
  const size_t inputs = lowering.node().inputs.size();
  const TensorType& type = lowering.output_type();
  const std::string name(op.type());
  if (!all_float(lowering)) return lowering.run_on_host(name + " of integers has no kernel");
  if (type.shape.size() > kMaxRank)
    return lowering.run_on_host(name + " of more than six dimensions has no kernel");
  if (inputs == 1) return lowering.alias(0, 0);
  const Layout layout = fits_channels4(lowering) ? Layout::channels4 : Layout::linear;
  const std::string function = op.kind == BinaryKind::min   ? "Min"
                               : op.kind == BinaryKind::max ? "Max"
                                                            : "Add";
  const auto operand = [&](size_t i) -> Operand {
    return {read_operand(lowering, i, layout, type.shape.size()), lowering.input_type(i).shape};
  };
  std::vector<Operand> operands;
  for (size_t i = 0; i < inputs; ++i) operands.push_back(operand(i));
  const Operand y{lowering.write(0, layout), type.shape};
  const TensorDesc desc = lowering.tensor(y.tensor).desc;
  Operand so_far = operands[0];
  for (size_t i = 1; i < inputs; ++i) {
    const bool last = i + 1 == inputs && !op.mean;
    const Operand result =
        last ? y : Operand{lowering.workspace(lowering.node().name + "/partial", desc), type.shape};
    combine(lowering, function, {}, layout, so_far, operands[i], result);
    so_far = result;
  }
  if (!op.mean) return;
  TensorDesc one{{1}, ElementType::f32, Storage::buffer, layout};
  const float share = 1.0f / static_cast<float>(inputs);
  const TensorId factor =
      lowering.weight(lowering.node().name + "/share", one, [share] { return std::vector<float>{share}; });
  combine(lowering, "Mul", {}, layout, so_far, {factor, {1}}, y);
}

void lower_prelu(Lowering& lowering) { lower_pair(lowering, "PRelu", {}); }

}  // namespace vellum

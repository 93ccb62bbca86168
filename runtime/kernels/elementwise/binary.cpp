// Lowers functions of two or more tensors with numpy broadcasting.
#include "graph/operators/elementwise/binary.hpp"

#include <algorithm>

#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/elementwise/quantize.hpp"
#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "kernels/elementwise/elementwise.hpp"
#include "kernels/framework/elements.hpp"

namespace vellum {

namespace {

constexpr int64_t kExactConstants = 4096;  // constants with at most this many elements stay fp32

// Returns whether the operator can be computed in channels4. The slots of axes in channels4 depend on the
// rank, so that operands that are computed at run time must have the rank of the output.
bool fits_channels4(const Lowering& lowering) {
  const size_t rank = lowering.output_type().shape.size();
  bool lives_there = false;
  for (size_t i = 0; i < lowering.node().inputs.size(); ++i) {
    if (rank > 4) return false;
    if (lowering.constant(i)) continue;
    if (!is_float(lowering.input_type(i).dtype)) return false;
    if (lowering.input_type(i).shape.size() != rank) return false;
    lives_there = lives_there || is_in_channels4(lowering, i);
  }
  return lives_there;
}

Operand read_operand(Lowering& lowering, size_t i, Layout layout, size_t rank) {
  const Shape& shape = lowering.input_type(i).shape;
  const bool few = element_count(shape) <= kExactConstants;
  const bool lower_rank = layout == Layout::channels4 && shape.size() < rank;
  const bool as_floats = is_float(lowering.input_type(i).dtype) || is_float(lowering.output_type().dtype);
  if (lowering.constant(i) && as_floats && (few || lower_rank || !is_float(lowering.input_type(i).dtype)))
    return {exact_constant(lowering, i, layout,
                           padded_to_rank(shape, layout == Layout::channels4 ? rank : shape.size())),
            shape};
  return {lowering.read(i, layout), shape};
}

std::string function_of(BinaryKind kind, std::string_view type) {
  switch (kind) {
    case BinaryKind::fmod:
      return "Fmod";
    case BinaryKind::shift_left:
      return "ShiftLeft";
    case BinaryKind::shift_right:
      return "ShiftRight";
    // Bitwise on booleans and on wider integers.
    case BinaryKind::bitwise_and:
      return "And";
    case BinaryKind::bitwise_or:
      return "Or";
    case BinaryKind::bitwise_xor:
      return "Xor";
    default:
      return std::string(type);
  }
}

bool rounds_to_integers(const Operator& op) {
  if (const auto* cast = dynamic_cast<const Cast*>(&op)) return !cast->to || !is_float(*cast->to);
  const auto* unary = dynamic_cast<const Unary*>(&op);
  return unary != nullptr && (unary->kind == UnaryKind::round || unary->kind == UnaryKind::floor ||
                              unary->kind == UnaryKind::ceil);
}

bool rounds_to_steps(const Operator& op) {
  const auto* unary = dynamic_cast<const Unary*>(&op);
  return dynamic_cast<const QuantizeLinear*>(&op) ||
         (unary && unary->kind == UnaryKind::activation && unary->activation.is_rounded());
}

// Returns whether `rounds` holds for a node that reads the value, also after a Clip.
bool is_read_by(const Lowering& lowering, ValueId value, bool rounds(const Operator&)) {
  return std::ranges::any_of(lowering.graph().nodes, [&](const Node& node) {
    if (node.inputs.empty() || node.inputs[0] != value) return false;
    return node.op->type() == "Clip" ? is_read_by(lowering, node.outputs[0], rounds) : rounds(*node.op);
  });
}

// A quotient just beside a tie or an integer must not come out as it before a rounding, nor the other way
// round.
std::string function_of_division(const Lowering& lowering, const Activation& activation) {
  const ValueId y = lowering.node().outputs[0];
  if (activation.is_rounded() || is_read_by(lowering, y, rounds_to_steps)) return "DivToSteps";
  return is_read_by(lowering, y, rounds_to_integers) ? "DivToRound" : "Div";
}

// Lowers a function whose result has integers or booleans.
void lower_integer_pair(Lowering& lowering, const std::string& function, const Binary& op) {
  const Shape& shape = lowering.output_type().shape;
  if (shape.size() > kMaxElementwiseRank)
    return lowering.run_on_host(function + " of more than six dimensions has no kernel");
  if (op.activation) return lowering.run_on_host(function + " of integers with an activation has no kernel");
  // The type of the operands decides, because the result of a comparison is always bool.
  const DType dtype = lowering.input_type(0).dtype;
  if ((dtype == DType::u64 && op.kind == BinaryKind::sub) ||
      (size_of(dtype) == 8 && op.kind == BinaryKind::shift_left))
    return lowering.run_on_host(function + " of 64-bit integers has no kernel: it may exceed 32 bits");
  const Operand a = read_operand(lowering, 0, Layout::linear, shape.size());
  const Operand b = read_operand(lowering, 1, Layout::linear, shape.size());
  combine_integers(lowering, function, dtype, a, b, {lowering.write(0, Layout::linear), shape});
}

void lower_pair(Lowering& lowering, const std::string& function, const Activation& activation,
                const FixedPair& fixed_point = {}) {
  const Shape& shape = lowering.output_type().shape;
  if (shape.size() > kMaxElementwiseRank)
    return lowering.run_on_host(function + " of more than six dimensions has no kernel");
  const Layout layout = fits_channels4(lowering) ? Layout::channels4 : Layout::linear;
  Operand a = read_operand(lowering, 0, layout, shape.size());
  Operand b = read_operand(lowering, 1, layout, shape.size());
  b.tensor = as_floats(lowering, b.tensor);  // the exponent of Pow may have integers
  combine(lowering, function, activation, layout, a, b, {lowering.write(0, layout), shape}, fixed_point);
}

// Lowers Min, Max or Sum of several integer tensors, two at a time.
void lower_variadic_integers(Lowering& lowering, const Variadic& op) {
  const TensorType& type = lowering.output_type();
  const size_t inputs = lowering.node().inputs.size();
  const std::string function = op.kind == BinaryKind::add ? "Add" : std::string(op.type());
  Operand so_far{lowering.read(0, Layout::linear), lowering.input_type(0).shape};
  const Operand y{lowering.write(0, Layout::linear), type.shape};
  for (size_t i = 1; i < inputs; ++i) {
    const Operand next{lowering.read(i, Layout::linear), lowering.input_type(i).shape};
    const Operand result =
        i + 1 == inputs ? y : Operand{integer_workspace(lowering, "partial", type.shape), type.shape};
    combine_integers(lowering, function, type.dtype, so_far, next, result);
    so_far = result;
  }
}

}  // namespace

void lower_binary(Lowering& lowering) {
  const Binary& op = lowering.op<Binary>();
  std::string function = function_of(op.kind, op.type());
  if (op.kind == BinaryKind::div && is_float(lowering.output_type().dtype))
    function = function_of_division(lowering, op.activation);
  if (is_float(lowering.output_type().dtype))
    return lower_pair(lowering, function, op.activation,
                      op.combines_integers() ? op.fixed_point : FixedPair{});
  lower_integer_pair(lowering, function, op);
}

void lower_variadic(Lowering& lowering) {
  // Min and Max of two tensors are Binary.
  if (dynamic_cast<const Binary*>(lowering.node().op.get())) return lower_binary(lowering);
  const Variadic& op = lowering.op<Variadic>();
  const size_t inputs = lowering.node().inputs.size();
  const TensorType& type = lowering.output_type();
  const std::string name(op.type());
  if (type.shape.size() > kMaxElementwiseRank)
    return lowering.run_on_host(name + " of more than six dimensions has no kernel");
  if (inputs == 1) return lowering.alias(0, 0);
  if (!all_float(lowering)) return lower_variadic_integers(lowering, op);
  const Layout layout = fits_channels4(lowering) ? Layout::channels4 : Layout::linear;
  const std::string function = op.kind == BinaryKind::min   ? "Min"
                               : op.kind == BinaryKind::max ? "Max"
                                                            : "Add";
  std::vector<Operand> operands;
  for (size_t i = 0; i < inputs; ++i)
    operands.push_back(read_operand(lowering, i, layout, type.shape.size()));
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

void lower_prelu(Lowering& lowering) {
  if (!all_float(lowering)) return lowering.run_on_host("PRelu of integers has no kernel");
  const FixedPair& fixed_point = lowering.op<PRelu>().fixed_point;
  constexpr float kMost = 0x1p20f;  // the readers of the results clamp them
  const Activation steps{.step = fixed_point.y_step, .least = -kMost, .most = kMost};
  lower_pair(lowering, "PRelu", fixed_point ? steps : Activation{}, fixed_point);
}

}  // namespace vellum

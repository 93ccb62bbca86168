#include "kernels/framework/element_functions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "graph/tensor.hpp"
#include "program/divide.hpp"
#include "program/macros.hpp"
#include "shaders/elementwise/binary.h"
#include "shaders/elementwise/binary_linear.h"
#include "shaders/elementwise/unary.h"
#include "shaders/elementwise/unary_linear.h"
#include "shaders/elementwise/where.h"

namespace vellum {
namespace {

// The fields of a parameter block, by the bytes before them.
class Fields {
 public:
  explicit Fields(const Dispatch& dispatch) : bytes_(dispatch.push_constants.bytes()) {}

  int64_t integer(size_t offset) const {
    int32_t value = 0;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  std::vector<int64_t> integers(size_t offset, int64_t count) const {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(integer(offset + static_cast<size_t>(4 * i)));
    return values;
  }

 private:
  std::span<const std::byte> bytes_;
};

// Returns whether the dispatch has no macro that changes its function in a way that element_function() does
// not know.
bool has_known_macros(const Dispatch& dispatch) {
  constexpr std::string_view kKnown[] = {"ACTIVATION",       "ACTIVATION_SCALED", "BROADCAST",
                                         "EPILOGUE",         "FUNCTION",          "LINEAR_LAYOUT",
                                         "INF_NAN_PRESERVE", "PACK_HALVES",       "SAMPLED_TEXEL_BUFFERS"};
  return std::ranges::all_of(dispatch.defines, [&](const auto& macro) {
    return is_tensor_macro(macro.first) || std::ranges::find(kKnown, macro.first) != std::end(kKnown);
  });
}

std::string bits(int64_t word) {
  return "uintBitsToFloat(" + std::to_string(static_cast<uint32_t>(word)) + "u)";
}

// Polynomials of which compilers reorder operations, differently from shader to shader.
bool is_inexact(std::string_view activation) {
  return activation == "erf" || activation == "gelu" || activation == "gelu_tanh";
}

// Returns the code of the activation, whose parameters are the first field of the dispatch.
std::optional<std::string> activation_code(const Dispatch& dispatch) {
  const std::string* activation = find_macro(dispatch.defines, "ACTIVATION");
  if (!activation) return "";
  if (activation->starts_with("rounded_") || is_inexact(*activation)) return std::nullopt;
  const bool scaled = find_macro(dispatch.defines, "ACTIVATION_SCALED") != nullptr;
  if (*activation == "none" && !scaled) return "";
  const Fields fields(dispatch);
  std::string code = "activation_constants = opaque(vec4(";
  for (size_t i = 0; i < 4; ++i) code += (i ? ", " : "") + bits(fields.integer(4 * i));
  const std::string value = "activation_" + *activation + "($y)";
  return code + "), $n); $y = " +
         (scaled ? "activation_constants.z * " + value + " + activation_constants.w" : value) + "; ";
}

std::string note_lowest(const std::string& a, const std::string& b) {
  return "note_lowest(" + a + ", " + b + "); ";
}

// Returns the code of the epilogue, whose operand is `$number`.
std::string epilogue_code(const std::string& function, size_t number) {
  const std::string other = "$" + std::to_string(number);
  const std::string call =
      function == "SubFrom" ? "Sub(" + other + ", $y)" : function + "($y, " + other + ")";
  return note_lowest("$y", other) + "$y = " + call + "; ";
}

// Returns an operand of a function whose operations are not `precise`, so that compilers do not simplify it
// together with other functions.
std::string opaque(const std::string& operand) { return "opaque(" + operand + ", $n)"; }

ElementOperand contiguous(TensorId tensor, int64_t count) { return {tensor, 0, {{count}, {{1}}}}; }

// Returns operand `binding` of a kernel of texels: it has one pixel, and `shape` (W, H, C, N).
std::optional<ElementOperand> operand_of_texels(const Program& program, TensorId tensor,
                                                const std::vector<int64_t>& shape,
                                                const std::vector<int64_t>& y_shape) {
  const TensorDesc& desc = program.tensors[tensor].desc;
  if (desc.storage != Storage::buffer || shape[0] * shape[1] != 1) return std::nullopt;
  const int64_t c = shape[2], n = shape[3];
  if (c != 1 && c != y_shape[2]) return std::nullopt;
  const int64_t row = n == 1 ? 0 : 4 * divide_up(c, int64_t{4});
  return ElementOperand{tensor, 0, collapse({{y_shape[3], y_shape[2]}, {{row, c == 1 ? 0 : 1}}})};
}

ElementOperand operand_of_loops(TensorId tensor, const std::vector<int64_t>& dims,
                                std::vector<int64_t> strides) {
  return {tensor, 0, collapse({dims, {std::move(strides)}})};
}

// Fill in the operands of binary.comp, unary.comp and where.comp. They return whether they could.
bool add_binary_operands(const Program& program, const Dispatch& dispatch, ElementFunction& f) {
  const Fields fields(dispatch);
  const TensorId a = dispatch.bindings[0].tensor, b = dispatch.bindings[1].tensor;
  if (find_macro(dispatch.defines, "LINEAR_LAYOUT")) {
    using P = BinaryLinearParameters;
    const int64_t rank = fields.integer(offsetof(P, rank));
    const std::vector<int64_t> dims = fields.integers(offsetof(P, dims), rank);
    f.operands = {operand_of_loops(a, dims, fields.integers(offsetof(P, a_strides), rank)),
                  operand_of_loops(b, dims, fields.integers(offsetof(P, b_strides), rank))};
    return true;
  }
  using P = BinaryParameters;
  const std::vector<int64_t> y_shape = fields.integers(offsetof(P, y_shape), 4);
  const auto of_a = operand_of_texels(program, a, fields.integers(offsetof(P, a_shape), 4), y_shape);
  const auto of_b = operand_of_texels(program, b, fields.integers(offsetof(P, b_shape), 4), y_shape);
  if (!of_a || !of_b) return false;
  f.operands = {*of_a, *of_b};
  return true;
}

bool add_where_operands(const Dispatch& dispatch, ElementFunction& f) {
  using P = WhereParameters;
  const Fields fields(dispatch);
  const int64_t rank = fields.integer(offsetof(P, rank));
  const std::vector<int64_t> dims = fields.integers(offsetof(P, dims), rank);
  const size_t strides[] = {offsetof(P, condition_strides), offsetof(P, a_strides), offsetof(P, b_strides)};
  for (size_t i = 0; i < 3; ++i)
    f.operands.push_back(
        operand_of_loops(dispatch.bindings[i].tensor, dims, fields.integers(strides[i], rank)));
  return true;
}

bool add_function(const Program& program, const Dispatch& dispatch, ElementFunction& f) {
  const std::string* function = find_macro(dispatch.defines, "FUNCTION");
  const std::string* epilogue = find_macro(dispatch.defines, "EPILOGUE");
  if (dispatch.bindings.size() != (dispatch.shader == "unary"    ? 2u
                                   : dispatch.shader == "binary" ? 3u
                                                                 : 4u) +
                                      (epilogue != nullptr))
    return false;
  if (dispatch.shader == "where") {
    f.code = "vec4 $y = mix($2, $1, notEqual($0, ivec4(0))); ";
    return program.tensors[f.y].desc.element == ElementType::f32 && add_where_operands(dispatch, f);
  }
  const std::optional<std::string> activation = activation_code(dispatch);
  if (!activation) return false;
  if (dispatch.shader == "unary") {
    if (function && *function == "Shrink") return false;
    f.operands = {contiguous(dispatch.bindings[0].tensor, f.count)};
    f.code = note_lowest("vec4(0)", "vec4(0)") + "vec4 $y = " + (function ? *function : "") + "(" +
             opaque("$0") + "); " + *activation;
    return true;
  }
  if (!function || !add_binary_operands(program, dispatch, f)) return false;
  const bool is_precise =
      activation->empty() && (*function == "Add" || *function == "Sub" || *function == "Mul");
  f.code = note_lowest("$0", "$1") + "vec4 $y = " + *function + "(" +
           (is_precise ? "$0, $1" : opaque("$0") + ", " + opaque("$1")) + "); " + *activation;
  if (!epilogue) return true;
  f.operands.push_back(contiguous(dispatch.bindings[3].tensor, f.count));
  f.code += epilogue_code(*epilogue, 2);
  return true;
}

// Returns the position of y among the bindings of the dispatch.
std::optional<size_t> position_of_result(const Dispatch& dispatch) {
  const auto found = std::ranges::find(dispatch.bindings, "y", &Binding::name);
  if (found == dispatch.bindings.end()) return std::nullopt;
  return static_cast<size_t>(found - dispatch.bindings.begin());
}

}  // namespace

bool has_linear_elements(const TensorDesc& desc) {
  if (desc.storage != Storage::buffer) return false;
  if (desc.layout == Layout::linear) return true;
  const auto [n, c, h, w] = nchw(desc.shape);
  return c % 4 == 0 && h * w == 1;
}

std::optional<ElementFunction> element_function(const Program& program, const Dispatch& dispatch) {
  if (dispatch.shader != "binary" && dispatch.shader != "unary" && dispatch.shader != "where")
    return std::nullopt;
  if (!has_known_macros(dispatch) || dispatch.copy) return std::nullopt;
  const std::optional<size_t> position = position_of_result(dispatch);
  if (!position) return std::nullopt;
  ElementFunction f;
  f.y = dispatch.bindings[*position].tensor;
  const TensorDesc& desc = program.tensors[f.y].desc;
  f.count = element_count(desc.shape);
  if (!holds_floats(desc.element) || !has_linear_elements(desc) || !add_function(program, dispatch, f))
    return std::nullopt;
  for (const ElementOperand& operand : f.operands) {
    const TensorDesc& of_operand = program.tensors[operand.tensor].desc;
    const bool is_condition = dispatch.shader == "where" && &operand == f.operands.data();
    if (of_operand.storage != Storage::buffer ||
        (is_condition ? of_operand.element != ElementType::i32 : !holds_floats(of_operand.element)))
      return std::nullopt;
  }
  return f;
}

}  // namespace vellum

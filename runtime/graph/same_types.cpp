#include "graph/same_types.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>

namespace vellum {
namespace {

constexpr uint32_t kAll = 0xffffffffu;

constexpr uint32_t slots(std::initializer_list<uint32_t> list) {
  uint32_t mask = 0;
  for (const uint32_t slot : list) mask |= 1u << slot;
  return mask;
}

// One row for each set of inputs with one type parameter; an operator may have several.
struct SameTypes {
  std::string_view type;
  uint32_t slots;
};

constexpr SameTypes kSameTypes[] = {
    {"Add", kAll},
    {"Sub", kAll},
    {"Mul", kAll},
    {"Div", kAll},
    {"Mod", kAll},
    {"Min", kAll},
    {"Max", kAll},
    {"Sum", kAll},
    {"Mean", kAll},
    {"Equal", kAll},
    {"Less", kAll},
    {"LessOrEqual", kAll},
    {"Greater", kAll},
    {"GreaterOrEqual", kAll},
    {"And", kAll},
    {"Or", kAll},
    {"Xor", kAll},
    {"BitShift", kAll},
    {"BitwiseAnd", kAll},
    {"BitwiseOr", kAll},
    {"BitwiseXor", kAll},
    {"Concat", kAll},
    {"Einsum", kAll},
    {"PRelu", kAll},
    {"Clip", kAll},
    {"Range", kAll},
    {"MatMul", kAll},
    {"Gemm", kAll},
    {"Det", kAll},
    {"Conv", kAll},
    {"ConvTranspose", kAll},
    {"DeformConv", kAll},
    {"InstanceNormalization", kAll},
    {"LayerNormalization", kAll},
    {"GroupNormalization", kAll},
    {"BatchNormalization", slots({1, 2})},
    {"BatchNormalization", slots({3, 4})},
    {"Where", slots({1, 2})},
    {"Pad", slots({0, 2})},
    {"ScatterElements", slots({0, 2})},
    {"ScatterND", slots({0, 2})},
    {"RoiAlign", slots({0, 1})},
    {"RotaryEmbedding", slots({0, 1, 2})},
    {"RNN", slots({0, 1, 2, 3, 5})},
    {"GRU", slots({0, 1, 2, 3, 5})},
    {"LSTM", slots({0, 1, 2, 3, 5, 6, 7})},
    {"TensorScatter", slots({0, 1})},
};

bool may_be_beside(DType a, DType b) {
  const auto is_short = [](DType dtype) { return dtype == DType::f16 || dtype == DType::f32; };
  return a == b || (is_short(a) && is_short(b));
}

}  // namespace

void check_same_types(std::string_view type, Inputs inputs) {
  for (const SameTypes& row : kSameTypes) {
    if (row.type != type) continue;
    std::optional<size_t> first;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if ((row.slots >> std::min<size_t>(i, 31) & 1) == 0 || !has_input(inputs, i)) continue;
      if (!first) first = i;
      const DType a = inputs[*first].type.dtype, b = inputs[i].type.dtype;
      if (!may_be_beside(a, b))
        refuse_model("input " + std::to_string(*first) + " is " + std::string(name(a)) + " and input " +
                     std::to_string(i) + " is " + std::string(name(b)) +
                     ", but they must have the same type");
    }
  }
}

}  // namespace vellum

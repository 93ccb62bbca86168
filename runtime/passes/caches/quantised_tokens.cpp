#include "passes/caches/quantised_tokens.hpp"

#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/movement/slice.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

bool is_scalar(const GraphEditor& editor, ValueId value, float number) {
  const HostTensor* constant = value == kNoValue ? nullptr : editor.constant(value);
  return constant != nullptr && constant->elements() == 1 && constant->to_floats()[0] == number;
}

// Returns x of value = clip(round(x), -most - 1, most).
std::optional<ValueId> match_rounding(const GraphEditor& editor, ValueId value, float most) {
  const auto clip = match_producer<Clip>(editor, value);
  if (!clip || clip.node->inputs.size() != 3 || !is_scalar(editor, clip.input(1), -most - 1.0f) ||
      !is_scalar(editor, clip.input(2), most))
    return std::nullopt;
  return match_unary(editor, clip.input(), UnaryKind::round);
}

// Returns x, of whose channels `value` has every second one from `first` on.
std::optional<ValueId> match_half_of_channels(const GraphEditor& editor, ValueId value, int64_t first) {
  const auto slice = match_producer<Slice>(editor, value);
  if (!slice) return std::nullopt;
  const SliceRange range = slice->range(operator_inputs(editor.graph(), *slice.node));
  Shape shape = editor.type(slice.input()).shape;
  Ints starts(shape.size(), 0), steps(shape.size(), 1);
  if (shape.empty() || shape.back() % 2 != 0) return std::nullopt;
  starts.back() = first, steps.back() = 2, shape.back() /= 2;
  if (range.starts != starts || range.steps != steps || range.output != shape) return std::nullopt;
  return slice.input();
}

// Returns numbers from -8 to 7 of which `value` has pairs in bytes.
std::optional<ValueId> match_pairs(const GraphEditor& editor, ValueId value) {
  const auto sum = match_binary(editor, value, BinaryKind::add);
  if (!sum) return std::nullopt;
  for (const size_t i : {0u, 1u}) {
    const auto low = match_half_of_channels(editor, (*sum)[i], 0);
    const auto scaled = match_scalar(editor, (*sum)[1 - i], BinaryKind::mul, 16.0);
    const auto high = scaled ? match_half_of_channels(editor, *scaled, 1) : std::nullopt;
    if (low && high && *low == *high) return match_scalar(editor, *low, BinaryKind::add, 8.0);
  }
  return std::nullopt;
}

bool is_scale_of(const Shape& scale, const Shape& tokens) {
  if (tokens.size() != 4) return false;
  return element_count(scale) == 1 || scale == Shape{1, tokens[1], 1, tokens[3]};
}

}  // namespace

std::optional<QuantisedTokens> match_quantised_tokens(const GraphEditor& editor, ValueId integers,
                                                      RowFormat format) {
  const auto cast = match_producer<Cast>(editor, integers);
  if (!cast || !is_float_value(editor, cast.input())) return std::nullopt;
  std::optional<ValueId> numbers = cast.input();
  if (format == RowFormat::nibbles) numbers = match_pairs(editor, *numbers);
  if (!numbers) return std::nullopt;
  const auto quotient = match_rounding(editor, *numbers, format == RowFormat::nibbles ? 7.0f : 127.0f);
  const auto operands = quotient ? match_binary(editor, *quotient, BinaryKind::div) : std::nullopt;
  if (!operands || !is_scale_of(editor.type((*operands)[1]).shape, editor.type((*operands)[0]).shape) ||
      editor.type((*operands)[0]).shape != editor.type(*quotient).shape)
    return std::nullopt;
  return QuantisedTokens{(*operands)[0], (*operands)[1]};
}

}  // namespace vellum

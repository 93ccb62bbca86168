#include "passes/patterns/rotated_pairs.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

ValueId without_reshapes(const GraphEditor& editor, ValueId value) {
  while (const auto reshape = match_producer<ReshapeFamily>(editor, value)) value = reshape.input();
  return value;
}

// value = first product (+ or -) second product, of two factors each.
using Products = std::array<std::array<ValueId, 2>, 2>;

std::optional<Products> match_products(const GraphEditor& editor, ValueId value, BinaryKind kind) {
  const auto terms = match_binary(editor, value, kind);
  if (!terms) return std::nullopt;
  const auto first = match_binary(editor, (*terms)[0], BinaryKind::mul),
             second = match_binary(editor, (*terms)[1], BinaryKind::mul);
  if (!first || !second) return std::nullopt;
  return Products{*first, *second};
}

// Whether the factors are `a` and `b` in any order, Reshapes of b aside.
bool multiplies(const GraphEditor& editor, const std::array<ValueId, 2>& factors, ValueId a, ValueId b) {
  for (const size_t slot : {0, 1})
    if (factors[slot] == a && without_reshapes(editor, factors[1 - slot]) == b) return true;
  return false;
}

// real = cos * a - sin * b, imaginary = sin * a + cos * b
struct PairFactors {
  ValueId a = kNoValue, b = kNoValue, cosines = kNoValue, sines = kNoValue;  // the latter as multiplied
};

// Returns both choices of the factors: the equations are the same with a and cos, and b and sin exchanged.
std::vector<PairFactors> match_factors(const GraphEditor& editor, ValueId real, ValueId imaginary) {
  std::vector<PairFactors> found;
  const auto difference = match_products(editor, real, BinaryKind::sub),
             sum = match_products(editor, imaginary, BinaryKind::add);
  if (!difference || !sum) return found;
  for (const size_t i : {0, 1})
    for (const size_t j : {0, 1}) {
      const auto& [with_cosines, with_sines] = *difference;
      const PairFactors f{with_cosines[i], with_sines[j], with_cosines[1 - i], with_sines[1 - j]};
      const ValueId cosines = without_reshapes(editor, f.cosines), sines = without_reshapes(editor, f.sines);
      for (const size_t k : {0, 1})
        if (multiplies(editor, (*sum)[k], f.a, sines) && multiplies(editor, (*sum)[1 - k], f.b, cosines))
          found.push_back(f);
    }
  return found;
}

// Returns the rotation whose parts, with these factors, the Concat joins.
std::optional<RotatedPairs> rotation_of_pairs(const GraphEditor& editor, const Node& join,
                                              const PairFactors& factors) {
  const TensorType type = editor.type(join.outputs[0]), table = editor.type(factors.cosines);
  TensorType half = type;
  half.shape[3] = editor.type(join.inputs[0]).shape[3];
  if (editor.type(factors.a) != half || editor.type(factors.b) != half) return std::nullopt;
  if (editor.type(factors.sines) != table || table.dtype != type.dtype ||
      !is_rotation_table(table.shape, half.shape))
    return std::nullopt;
  RotatedPairs found{.x = view_of(editor, factors.a),
                     .cosines = without_reshapes(editor, factors.cosines),
                     .sines = without_reshapes(editor, factors.sines),
                     .table = of_four_dimensions(table.shape),
                     .pairs = half.shape[3]};
  found.x.view.shape[3] = type.shape[3];
  const auto continues = [&](ValueId part, int64_t first) {
    const ViewedValue viewed = view_of(editor, part);
    return viewed.source == found.x.source && has_channels_from(viewed.view, found.x.view, first);
  };
  const bool is_whole =
      join.inputs.size() == 2 ? type.shape[3] == 2 * found.pairs : continues(join.inputs[2], 2 * found.pairs);
  return continues(factors.b, found.pairs) && is_whole ? std::optional(found) : std::nullopt;
}

}  // namespace

Shape of_four_dimensions(const Shape& shape) {
  Shape result(4 - shape.size(), 1);
  result.insert(result.end(), shape.begin(), shape.end());
  return result;
}

bool is_rotation_table(const Shape& factor, const Shape& heads) {
  if (factor.size() > 4 || factor.empty()) return false;
  const Shape table = of_four_dimensions(factor);
  return table[0] == 1 && (table[1] == 1 || table[1] == heads[1]) &&
         (table[2] == 1 || table[2] == heads[2]) && table[3] == heads[3];
}

bool has_channels_from(const StridedView& part, const StridedView& whole, int64_t first) {
  return part.shape.size() == whole.shape.size() && first + part.shape.back() <= whole.shape.back() &&
         std::equal(part.shape.begin(), part.shape.end() - 1, whole.shape.begin()) &&
         part.strides == whole.strides && part.offset == whole.offset + first * whole.strides.back();
}

std::optional<RotatedPairs> match_rotated_pairs(const GraphEditor& editor, size_t index) {
  const auto join = match_node<Concat>(editor, index);
  if (!join || join.node->inputs.size() < 2 || join.node->inputs.size() > 3) return std::nullopt;
  const TensorType type = editor.type(join.node->outputs[0]);
  if (type.shape.size() != 4 || type.shape[3] % 4 != 0 || element_count(type.shape) == 0) return std::nullopt;
  if (!is_float(type.dtype) || normalize_axis(join->axis, 4) != 3) return std::nullopt;
  for (const PairFactors& factors : match_factors(editor, join.input(0), join.input(1)))
    if (auto found = rotation_of_pairs(editor, *join.node, factors)) return found;
  return std::nullopt;
}

}  // namespace vellum

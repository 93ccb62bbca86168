#include "passes/patterns/computed_rotation.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/matmul/rotate_channels.hpp"
#include "graph/operators/matmul/rotation_tables.hpp"
#include "graph/operators/movement/concat.hpp"
#include "passes/patterns/rotated_pairs.hpp"
#include "passes/patterns/strided_view.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// Whether `rotated` is the concatenation of -(second half of the channels) and the first half of `x`.
bool rotates_halves(const GraphEditor& editor, ValueId rotated, const ViewedValue& x) {
  const auto join = match_producer<Concat>(editor, rotated);
  const int64_t channels = x.view.shape.back();
  if (!join || join.node->inputs.size() != 2 || channels % 2 != 0) return false;
  const size_t rank = editor.type(rotated).shape.size();
  if (normalize_axis(join->axis, rank) + 1 != rank) return false;
  const auto second = match_unary(editor, join.input(0), UnaryKind::neg);
  if (!second) return false;
  const ViewedValue negated = view_of(editor, *second), kept = view_of(editor, join.input(1));
  return negated.source == x.source && kept.source == x.source && 2 * negated.view.shape.back() == channels &&
         2 * kept.view.shape.back() == channels && has_channels_from(negated.view, x.view, channels / 2) &&
         has_channels_from(kept.view, x.view, 0);
}

struct HalfRotation {
  ViewedValue x;
  ValueId cosines = kNoValue, sines = kNoValue;
};

std::optional<HalfRotation> match_rotation(const GraphEditor& editor, size_t index) {
  const ValueId output = editor.node(index).outputs[0];
  const TensorType& type = editor.type(output);
  const auto sum = match_binary(editor, output, BinaryKind::add);
  const bool has_heads = type.shape.size() == 4 && type.shape[3] % 4 == 0 && element_count(type.shape) > 0;
  if (!sum || !has_heads || !is_float_value(editor, output)) return std::nullopt;
  for (size_t slot = 0; slot < 2; ++slot) {
    const auto own = match_binary(editor, (*sum)[slot], BinaryKind::mul);
    const auto other = match_binary(editor, (*sum)[1 - slot], BinaryKind::mul);
    if (!own || !other) continue;
    for (size_t a = 0; a < 2; ++a) {
      for (size_t b = 0; b < 2; ++b) {
        const ValueId x = (*own)[a], cosines = (*own)[1 - a], rotated = (*other)[b], sines = (*other)[1 - b];
        if (editor.type(x) != type || editor.type(rotated) != type) continue;
        if (editor.type(cosines) != editor.type(sines) || editor.type(cosines).dtype != type.dtype) continue;
        if (!is_rotation_table(editor.type(cosines).shape, type.shape)) continue;
        const ViewedValue viewed = view_of(editor, x);
        if (rotates_halves(editor, rotated, viewed)) return HalfRotation{viewed, cosines, sines};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

ValueId ComputedRotations::computed(size_t index, const char* part, std::shared_ptr<const Operator> op,
                                    std::vector<ValueId> inputs, const TensorType& type) {
  return editor_.compute_before(index, editor_.node(index).name + "/" + part, std::move(op),
                                std::move(inputs), type);
}

ValueId ComputedRotations::in_shape(size_t index, ValueId value, const Shape& shape) {
  const TensorType type = editor_.type(value);
  return type.shape == shape ? value
                             : computed(index, "part", reshape_to(shape), {value}, {type.dtype, shape});
}

ValueId ComputedRotations::joined(size_t index, const char* part, const std::vector<ValueId>& parts,
                                  size_t axis) {
  TensorType type = editor_.type(parts[0]);
  type.shape[axis] = 0;
  for (const ValueId value : parts) type.shape[axis] += editor_.type(value).shape[axis];
  auto op = std::make_shared<Concat>();
  op->axis = static_cast<int64_t>(axis);
  return computed(index, part, std::move(op), parts, type);
}

ValueId ComputedRotations::table_of(size_t index, ValueId cosines, ValueId sines) {
  const TensorType type = editor_.type(sines);
  const auto [entry, is_new] = tables_.try_emplace({cosines, sines, type.shape, type.shape.back()}, kNoValue);
  if (!is_new) return entry->second;
  const Shape part = of_four_dimensions(type.shape);
  std::vector<float> signs(static_cast<size_t>(part[3]), 1.0f);
  std::fill_n(signs.begin(), signs.size() / 2, -1.0f);
  const ValueId sign = editor_.add_constant(editor_.node(index).name + "/signs",
                                            HostTensor::from<float>(type.dtype, {part[3]}, signs));
  auto multiply = std::make_shared<Binary>();
  multiply->kind = BinaryKind::mul;
  const ValueId turned = computed(index, "sines", std::move(multiply), {sines, sign}, type);
  return entry->second =
             joined(index, "table", {in_shape(index, cosines, part), in_shape(index, turned, part)}, 0);
}

ValueId ComputedRotations::table_of_pairs(size_t index, const RotatedPairs& rotated, int64_t channels) {
  const auto [entry, is_new] =
      tables_.try_emplace({rotated.cosines, rotated.sines, rotated.table, channels}, kNoValue);
  if (!is_new) return entry->second;
  const ValueId cosines = in_shape(index, rotated.cosines, rotated.table),
                sines = in_shape(index, rotated.sines, rotated.table);
  const TensorType type = editor_.type(sines);
  auto negate = std::make_shared<Unary>();
  negate->kind = UnaryKind::neg;
  std::vector<ValueId> own{cosines, cosines},
      other{computed(index, "negated", std::move(negate), {sines}, type), sines};
  if (channels > 2 * rotated.pairs) {  // channels that stay
    TensorType rest = type;
    rest.shape[3] = channels - 2 * rotated.pairs;
    const auto filled = [&](const char* what, float value) {
      const std::vector<float> values(static_cast<size_t>(element_count(rest.shape)), value);
      return editor_.add_constant(editor_.node(index).name + what,
                                  HostTensor::from<float>(rest.dtype, rest.shape, values));
    };
    own.push_back(filled("/ones", 1.0f));
    other.push_back(filled("/zeros", 0.0f));
  }
  const ValueId both[] = {joined(index, "cosines", own, 3), joined(index, "sines", other, 3)};
  return entry->second = joined(index, "table", {both[0], both[1]}, 0);
}

bool ComputedRotations::rotate_pairs(size_t index) {
  const auto found = match_rotated_pairs(editor_, index);
  if (!found) return false;
  if (editor_.constant(found->cosines) != nullptr && editor_.constant(found->sines) != nullptr) return false;
  auto op = std::make_shared<RotateChannels>();
  op->view = found->x.view;
  op->output = editor_.type(editor_.node(index).outputs[0]).shape;
  op->partner = rotation_partners(op->output.back(), found->pairs, false);
  const ValueId table = table_of_pairs(index, *found, op->output.back());
  editor_.replace(index, std::move(op), {found->x.source, table});
  return true;
}

bool ComputedRotations::replace(size_t index) {
  if (!match_node<Binary>(editor_, index)) return rotate_pairs(index);
  const auto found = match_rotation(editor_, index);
  if (!found) return false;
  // Constant tables are left to the match element by element, which folds them.
  if (editor_.constant(found->cosines) != nullptr && editor_.constant(found->sines) != nullptr) return false;
  auto op = std::make_shared<RotateChannels>();
  op->view = found->x.view;
  op->output = editor_.type(editor_.node(index).outputs[0]).shape;
  op->partner = rotation_partners(op->output.back(), op->output.back() / 2, false);
  const ValueId table = table_of(index, found->cosines, found->sines);
  editor_.replace(index, std::move(op), {found->x.source, table});
  return true;
}

}  // namespace vellum

#include "passes/patterns/computed_rotation.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/matmul/rotate_channels.hpp"
#include "graph/operators/matmul/rotation_tables.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/reshape.hpp"
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

// Returns the input of a Reshape that only adds a dimension of 1 at the end.
std::optional<ValueId> without_last_of_one(const GraphEditor& editor, ValueId value) {
  const auto reshape = match_producer<ReshapeFamily>(editor, value);
  if (!reshape) return std::nullopt;
  Shape shape = editor.type(reshape.input()).shape;
  shape.push_back(1);
  return shape == editor.type(value).shape ? std::optional(reshape.input()) : std::nullopt;
}

// Whether the value has each second channel of `x` from `first` on.
bool has_each_second_channel(const GraphEditor& editor, ValueId value, const ViewedValue& x, int64_t first) {
  const ViewedValue viewed = view_of(editor, value);
  StridedView expected = x.view;
  expected.offset += first * expected.strides[3];
  expected.shape[3] /= 2;
  expected.strides[3] *= 2;
  return viewed.source == x.source && viewed.view.offset == expected.offset &&
         viewed.view.shape == expected.shape && viewed.view.strides == expected.strides;
}

// Whether `rotated` is (-x1, x0, -x3, x2, ...) along the channels: a Concat along a fifth dimension joins
// pairs.
bool rotates_neighbours(const GraphEditor& editor, ValueId rotated, const ViewedValue& x) {
  const auto merge = match_producer<ReshapeFamily>(editor, rotated);
  const auto join = merge ? match_producer<Concat>(editor, merge.input()) : Match<Concat>{};
  Shape pairs = x.view.shape;
  if (!join || join.node->inputs.size() != 2 || pairs.size() != 4 || pairs[3] % 2 != 0) return false;
  pairs[3] /= 2;
  pairs.push_back(2);
  if (editor.type(merge.input()).shape != pairs || normalize_axis(join->axis, 5) != 4) return false;
  const auto odd = without_last_of_one(editor, join.input(0)),
             even = without_last_of_one(editor, join.input(1));
  const auto negated = odd ? match_unary(editor, *odd, UnaryKind::neg) : std::nullopt;
  return negated && even && has_each_second_channel(editor, *negated, x, 1) &&
         has_each_second_channel(editor, *even, x, 0);
}

// x * cosines + rotated x * sines
struct SumRotation {
  ViewedValue x;
  ValueId cosines = kNoValue, sines = kNoValue;
  bool interleaved = false;  // neighbours are a pair, not channels of both halves
};

std::optional<SumRotation> match_rotation(const GraphEditor& editor, ValueId output) {
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
        if (rotates_halves(editor, rotated, viewed)) return SumRotation{viewed, cosines, sines, false};
        if (rotates_neighbours(editor, rotated, viewed)) return SumRotation{viewed, cosines, sines, true};
      }
    }
  }
  return std::nullopt;
}

// Matches Concat(sum, rest) along the channels, where the rest is the other channels of x.
std::optional<SumRotation> match_part_rotation(const GraphEditor& editor, size_t index) {
  const auto join = match_node<Concat>(editor, index);
  if (!join || join.node->inputs.size() != 2 || !editor.only_reader(join.input(0))) return std::nullopt;
  const TensorType& type = editor.type(join.node->outputs[0]);
  if (type.shape.size() != 4 || normalize_axis(join->axis, 4) != 3 || type.shape[3] % 4 != 0)
    return std::nullopt;
  auto found = match_rotation(editor, join.input(0));
  if (!found) return std::nullopt;
  const ViewedValue rest = view_of(editor, join.input(1));
  const int64_t rotated = found->x.view.shape[3];
  found->x.view.shape[3] = type.shape[3];
  if (rest.source != found->x.source || !has_channels_from(rest.view, found->x.view, rotated))
    return std::nullopt;
  return found;
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

ValueId ComputedRotations::table_of_sum(size_t index, ValueId cosines, ValueId sines, bool interleaved,
                                        int64_t channels) {
  const TensorType type = editor_.type(sines);
  const auto [entry, is_new] =
      tables_.try_emplace({cosines, sines, type.shape, channels, interleaved}, kNoValue);
  if (!is_new) return entry->second;
  const Shape part = of_four_dimensions(type.shape);
  std::vector<float> signs(static_cast<size_t>(part[3]), 1.0f);
  for (size_t i = 0; i < signs.size() / 2; ++i) signs[interleaved ? 2 * i : i] = -1.0f;
  const ValueId sign = editor_.add_constant(editor_.node(index).name + "/signs",
                                            HostTensor::from<float>(type.dtype, {part[3]}, signs));
  const ValueId turned = computed(index, "sines", binary_of(BinaryKind::mul), {sines, sign}, type);
  return entry->second = table_of_parts(index, {in_shape(index, cosines, part)},
                                        {in_shape(index, turned, part)}, channels);
}

ValueId ComputedRotations::table_of_parts(size_t index, std::vector<ValueId> own, std::vector<ValueId> other,
                                          int64_t channels) {
  TensorType rest = editor_.type(own[0]);
  rest.shape[3] = channels;
  for (const ValueId part : own) rest.shape[3] -= editor_.type(part).shape[3];
  if (rest.shape[3] > 0) {  // channels that stay
    const auto filled = [&](const char* what, float value) {
      const std::vector<float> values(static_cast<size_t>(element_count(rest.shape)), value);
      return editor_.add_constant(editor_.node(index).name + what,
                                  HostTensor::from<float>(rest.dtype, rest.shape, values));
    };
    own.push_back(filled("/ones", 1.0f));
    other.push_back(filled("/zeros", 0.0f));
  }
  const auto whole = [&](const char* what, const std::vector<ValueId>& parts) {
    return parts.size() == 1 ? parts[0] : joined(index, what, parts, 3);
  };
  const ValueId cosines = whole("cosines", own), sines = whole("sines", other);
  return joined(index, "table", {cosines, sines}, 0);
}

ValueId ComputedRotations::table_of_pairs(size_t index, const RotatedPairs& rotated, int64_t channels) {
  const auto [entry, is_new] =
      tables_.try_emplace({rotated.cosines, rotated.sines, rotated.table, channels, false}, kNoValue);
  if (!is_new) return entry->second;
  const ValueId cosines = in_shape(index, rotated.cosines, rotated.table),
                sines = in_shape(index, rotated.sines, rotated.table);
  const ValueId negated = computed(index, "negated", unary_of(UnaryKind::neg), {sines}, editor_.type(sines));
  return entry->second = table_of_parts(index, {cosines, cosines}, {negated, sines}, channels);
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

bool ComputedRotations::rotate_sum(size_t index) {
  const bool is_part = static_cast<bool>(match_node<Concat>(editor_, index));
  if (!is_part && !match_node<Binary>(editor_, index)) return false;
  const ValueId output = editor_.node(index).outputs[0];
  const auto found = is_part ? match_part_rotation(editor_, index) : match_rotation(editor_, output);
  if (!found) return false;
  // Constant tables are left to the match element by element, which folds them.
  if (editor_.constant(found->cosines) != nullptr && editor_.constant(found->sines) != nullptr) return false;
  if (!is_part) {  // the Concat that reads it may rotate more channels at once
    const auto reader = editor_.only_reader(output);
    if (reader && match_part_rotation(editor_, *reader)) return false;
  }
  const int64_t channels = editor_.type(output).shape.back();
  auto op = std::make_shared<RotateChannels>();
  op->view = found->x.view;
  op->output = editor_.type(output).shape;
  op->partner =
      rotation_partners(channels, editor_.type(found->cosines).shape.back() / 2, found->interleaved);
  const ValueId table = table_of_sum(index, found->cosines, found->sines, found->interleaved, channels);
  editor_.replace(index, std::move(op), {found->x.source, table});
  return true;
}

bool ComputedRotations::replace(size_t index) { return rotate_pairs(index) || rotate_sum(index); }

}  // namespace vellum

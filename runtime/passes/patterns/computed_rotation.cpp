#include "passes/patterns/computed_rotation.hpp"

#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "graph/operators/matmul/rotate_channels.hpp"
#include "graph/operators/movement/concat.hpp"
#include "passes/patterns/strided_view.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// (batch, head, token, channel), the leading ones of which may be missing.
Shape of_four_dimensions(const Shape& shape) {
  Shape result(4 - shape.size(), 1);
  result.insert(result.end(), shape.begin(), shape.end());
  return result;
}

bool is_shifted(const StridedView& part, const StridedView& whole, int64_t channels) {
  Shape half = whole.shape;
  half.back() /= 2;
  return part.shape == half && part.strides == whole.strides &&
         part.offset == whole.offset + channels * whole.strides.back();
}

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
  return negated.source == x.source && kept.source == x.source &&
         is_shifted(negated.view, x.view, channels / 2) && is_shifted(kept.view, x.view, 0);
}

// Whether a factor of heads of this shape has one value for each channel, and is the same for all images.
bool is_table(const Shape& factor, const Shape& heads) {
  if (factor.size() > 4 || factor.empty()) return false;
  const Shape table = of_four_dimensions(factor);
  return table[0] == 1 && (table[1] == 1 || table[1] == heads[1]) &&
         (table[2] == 1 || table[2] == heads[2]) && table[3] == heads[3];
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
        if (!is_table(editor.type(cosines).shape, type.shape)) continue;
        const ViewedValue viewed = view_of(editor, x);
        if (rotates_halves(editor, rotated, viewed)) return HalfRotation{viewed, cosines, sines};
      }
    }
  }
  return std::nullopt;
}

// For each channel the other one of its pair.
Ints other_halves(int64_t channels) {
  Ints partner(static_cast<size_t>(channels));
  std::iota(partner.begin(), partner.end(), int64_t{0});
  for (int64_t& channel : partner) channel = (channel + channels / 2) % channels;
  return partner;
}

}  // namespace

ValueId ComputedRotations::table_of(size_t index, ValueId cosines, ValueId sines) {
  const auto [entry, is_new] = tables_.try_emplace({cosines, sines}, kNoValue);
  if (!is_new) return entry->second;
  const TensorType type = editor_.type(sines);
  const TensorType part{type.dtype, of_four_dimensions(type.shape)};
  const std::string name = editor_.node(index).name + "/table";
  std::vector<float> signs(static_cast<size_t>(part.shape[3]), 1.0f);
  std::fill_n(signs.begin(), signs.size() / 2, -1.0f);
  const ValueId sign =
      editor_.add_constant(name + "/signs", HostTensor::from<float>(type.dtype, {part.shape[3]}, signs));
  auto multiply = std::make_shared<Binary>();
  multiply->kind = BinaryKind::mul;
  const ValueId turned =
      editor_.compute_before(index, name + "/sines", std::move(multiply), {sines, sign}, type);
  std::vector<ValueId> parts;
  for (const ValueId value : {cosines, turned})
    parts.push_back(type.shape == part.shape ? value
                                             : editor_.compute_before(index, name + "/part",
                                                                      reshape_to(part.shape), {value}, part));
  Shape both = part.shape;
  both[0] = 2;
  const ValueId table =
      editor_.compute_before(index, name, std::make_shared<Concat>(), std::move(parts), {type.dtype, both});
  return tables_[{cosines, sines}] = table;
}

bool ComputedRotations::replace(size_t index) {
  if (!match_node<Binary>(editor_, index)) return false;
  const auto found = match_rotation(editor_, index);
  if (!found) return false;
  // Constant tables are left to the match element by element, which folds them.
  if (editor_.constant(found->cosines) != nullptr && editor_.constant(found->sines) != nullptr) return false;
  auto op = std::make_shared<RotateChannels>();
  op->view = found->x.view;
  op->output = editor_.type(editor_.node(index).outputs[0]).shape;
  op->partner = other_halves(op->output.back());
  const ValueId table = table_of(index, found->cosines, found->sines);
  editor_.replace(index, std::move(op), {found->x.source, table});
  return true;
}

}  // namespace vellum

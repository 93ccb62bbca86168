#include "passes/patterns/score_masks.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "graph/operators/elementwise/select.hpp"
#include "passes/rewrite/build.hpp"

namespace vellum {

Shape without_leading_ones(const Shape& shape) {
  return {std::find_if(shape.begin(), shape.end(), [](int64_t dim) { return dim != 1; }), shape.end()};
}

namespace {

HostTensor evaluated(const Operator& op, const std::vector<const HostTensor*>& inputs) {
  return op.evaluate(inputs).front();
}

HostTensor scalar_of(DType dtype, float value) {
  return HostTensor::from<float>(dtype, {}, std::vector<float>{value});
}

// Swin adds a mask to the scores while the windows have a dimension of their own, apart from the batch.
// Returns a constant that is added to scores of shape `seen` as one that is added to scores of shape
// `scores`.
std::optional<HostTensor> mask_in_shape(const HostTensor& constant, const Shape& seen, const Shape& scores) {
  if (constant.shape().size() > seen.size()) return std::nullopt;
  if (without_leading_ones(seen) == without_leading_ones(scores)) {
    const Shape& own = constant.shape();
    const auto missing = std::max(std::ssize(own) - std::ssize(scores), std::ptrdiff_t{0});
    return constant.reshaped({own.begin() + missing, own.end()});
  }
  Shape padded(seen.size() - constant.shape().size(), 1);
  padded.insert(padded.end(), constant.shape().begin(), constant.shape().end());
  // The last dimensions that both shapes share may stay as the mask has them; those before are split
  // differently.
  if (scores.size() < 2 || seen.size() < 2) return std::nullopt;
  std::ptrdiff_t shared = 0;
  while (shared < 3 && shared < std::ssize(scores) && shared < std::ssize(seen) &&
         *(scores.end() - 1 - shared) == *(seen.end() - 1 - shared))
    ++shared;
  if (shared < 2) return std::nullopt;
  Shape whole = seen, result = scores;
  std::copy(padded.end() - shared, padded.end(), whole.end() - shared);
  std::copy(padded.end() - shared, padded.end(), result.end() - shared);
  const HostTensor expanded = gather_strided(constant, whole, broadcast_strides(constant.shape(), whole), 0);
  return gather_strided(expanded, result, row_major_strides(result), 0);
}

// The scores that a node masks, and the mask.
struct MaskedScores {
  ValueId scores = kNoValue;
  ScoreMasks::Computed mask;
};

// The operand of an Add that has the type of the sum; the computed one where both have.
std::optional<MaskedScores> match_sum(const GraphEditor& editor, ValueId value) {
  const auto sum = match_binary(editor, value, BinaryKind::add);
  if (!sum) return std::nullopt;
  const TensorType& type = editor.type(value);
  const auto& [a, b] = *sum;
  if (editor.type(a) == type && editor.constant(a) == nullptr) return MaskedScores{a, {.value = b}};
  return editor.type(b) == type ? std::optional(MaskedScores{b, {.value = a}}) : std::nullopt;
}

std::optional<MaskedScores> match_choice(const GraphEditor& editor, ValueId value) {
  const auto choice = match_producer<Where>(editor, value);
  if (!choice) return std::nullopt;
  for (const size_t slot : {1, 2}) {
    const HostTensor* least = editor.constant(choice.input(3 - slot));
    const ValueId scores = choice.input(slot);
    if (least == nullptr || least->elements() != 1 || editor.type(scores) != editor.type(value)) continue;
    const float number = least->to_floats()[0];
    if (!(number <= kNegligibleBeside)) continue;
    return MaskedScores{scores, {.value = choice.input(0), .least = number, .keeps = slot == 1}};
  }
  return std::nullopt;
}

bool is_condition(const GraphEditor& editor, const ScoreMasks::Computed& mask) {
  return editor.type(mask.value).dtype == DType::boolean;
}

// The mask as floats that are added.
HostTensor addend_of(const GraphEditor& editor, const ScoreMasks::Computed& mask, DType dtype) {
  const HostTensor& constant = *editor.constant(mask.value);
  if (is_condition(editor, mask)) {
    const HostTensor kept = scalar_of(dtype, 0.0f), excluded = scalar_of(dtype, mask.least * mask.scale);
    return evaluated(Where(), {&constant, mask.keeps ? &kept : &excluded, mask.keeps ? &excluded : &kept});
  }
  if (mask.scale == 1.0f) return constant;
  const HostTensor factor = scalar_of(constant.dtype(), mask.scale);
  return evaluated(*binary_of(BinaryKind::mul), {&constant, &factor});
}

// Adds nodes that add up masks.
class MaskSum {
 public:
  MaskSum(GraphEditor& editor, size_t index, DType dtype)
      : editor_(editor), index_(index), dtype_(dtype), name_(editor.node(index).name + "/mask") {}

  void add(const HostTensor& constant) { add(editor_.add_constant(name_, constant)); }

  void add(const ScoreMasks::Computed& mask) {
    if (is_condition(editor_, mask))
      exclude(mask);
    else
      add(mask.scale == 1.0f ? mask.value
                             : emit(binary_of(BinaryKind::mul), {mask.value, scalar(mask.scale)}));
  }

  ValueId sum() const { return sum_; }

 private:
  void add(ValueId addend) {
    sum_ = sum_ == kNoValue ? addend : emit(binary_of(BinaryKind::add), {sum_, addend});
  }

  void exclude(const ScoreMasks::Computed& mask) {
    const ValueId kept = sum_ == kNoValue ? scalar(0.0f) : sum_, excluded = scalar(mask.least * mask.scale);
    sum_ = emit(std::make_shared<Where>(),
                {mask.value, mask.keeps ? kept : excluded, mask.keeps ? excluded : kept});
  }

  ValueId scalar(float value) { return editor_.add_constant(name_, scalar_of(dtype_, value)); }

  ValueId emit(std::shared_ptr<const Operator> op, std::vector<ValueId> inputs) {
    Shape shape;
    for (const ValueId input : inputs) shape = broadcast(shape, editor_.type(input).shape);
    return editor_.compute_before(index_, name_, std::move(op), std::move(inputs), {dtype_, shape});
  }

  GraphEditor& editor_;
  size_t index_;
  DType dtype_;
  std::string name_;
  ValueId sum_ = kNoValue;
};

}  // namespace

std::optional<ValueId> match_masked_scores(const GraphEditor& editor, ValueId value, float scale,
                                           const Shape& shape, ScoreMasks& masks) {
  auto found = match_sum(editor, value);
  if (!found) found = match_choice(editor, value);
  if (!found) return std::nullopt;
  found->mask.scale = scale;
  const TensorType& seen = editor.type(value);
  if (editor.constant(found->mask.value) != nullptr) {
    auto addend = mask_in_shape(addend_of(editor, found->mask, seen.dtype), seen.shape, shape);
    if (!addend) return std::nullopt;
    masks.constants.push_back(std::move(*addend));
    return found->scores;
  }
  if (without_leading_ones(seen.shape) != without_leading_ones(shape)) return std::nullopt;
  masks.computed.push_back(found->mask);
  return found->scores;
}

std::optional<ValueId> add_masks(GraphEditor& editor, size_t index, const ScoreMasks& masks, DType dtype) {
  for (const ScoreMasks::Computed& mask : masks.computed) {
    const TensorType& type = editor.type(mask.value);
    if (type.shape.size() > 4 || (type.dtype != dtype && type.dtype != DType::boolean)) return std::nullopt;
  }
  MaskSum total(editor, index, dtype);
  if (!masks.constants.empty()) {
    HostTensor sum = masks.constants[0];
    for (size_t i = 1; i < masks.constants.size(); ++i)
      sum = evaluated(*binary_of(BinaryKind::add), {&sum, &masks.constants[i]});
    if (!masks.computed.empty() && (sum.dtype() != dtype || sum.shape().size() > 4)) return std::nullopt;
    total.add(sum);
  }
  // Sums first, so that each condition is one choice.
  for (const bool of_conditions : {false, true})
    for (const ScoreMasks::Computed& mask : masks.computed)
      if (is_condition(editor, mask) == of_conditions) total.add(mask);
  return total.sum();
}

namespace {

// The dimension of a mask that broadcasts to heads (-3), queries (-2) or keys (-1).
int64_t dimension(const Shape& shape, int64_t from_end) {
  return std::ssize(shape) + from_end < 0 ? 1 : shape[static_cast<size_t>(std::ssize(shape) + from_end)];
}

bool is_bias_of_keys(const Shape& shape, const Shape& scores) {
  return shape.size() <= 4 && dimension(shape, -3) == scores[1] && dimension(shape, -2) == 1 &&
         dimension(shape, -1) == scores[3] && element_count(shape) == scores[1] * scores[3];
}

bool is_mask_of_queries(const Shape& shape) {
  return dimension(shape, -3) == 1 && dimension(shape, -2) > 1 && shape.size() <= 4;
}

}  // namespace

ValueId take_key_bias(GraphEditor& editor, size_t index, ScoreMasks& masks, DType dtype,
                      const Shape& scores) {
  if (scores.size() != 4 || scores[1] == 1) return kNoValue;
  const auto takes = [&](const Shape& shape) { return is_bias_of_keys(shape, scores); };
  const auto computed = std::ranges::find_if(masks.computed, [&](const ScoreMasks::Computed& mask) {
    return editor.type(mask.value).dtype == dtype && takes(editor.type(mask.value).shape);
  });
  const auto constant = std::ranges::find_if(
      masks.constants, [&](const HostTensor& mask) { return mask.dtype() == dtype && takes(mask.shape()); });
  const bool is_computed = computed != masks.computed.end(), is_constant = constant != masks.constants.end();
  if (is_computed == is_constant || masks.computed.size() + masks.constants.size() < 2) return kNoValue;
  for (auto mask = masks.computed.begin(); mask != masks.computed.end(); ++mask)
    if (mask != computed && !is_mask_of_queries(editor.type(mask->value).shape)) return kNoValue;
  for (auto mask = masks.constants.begin(); mask != masks.constants.end(); ++mask)
    if (mask != constant && !is_mask_of_queries(mask->shape())) return kNoValue;
  const std::string name = editor.node(index).name + "/key_bias";
  const Shape shape{1, scores[1], 1, scores[3]};
  if (is_constant) {
    const ValueId bias = editor.add_constant(name, constant->reshaped(shape));
    masks.constants.erase(constant);
    return bias;
  }
  ScoreMasks only;
  only.computed.push_back(*computed);
  masks.computed.erase(computed);
  const ValueId bias = *add_masks(editor, index, only, dtype);
  return editor.compute_before(index, name, reshape_to(shape), {bias}, {dtype, shape});
}

}  // namespace vellum

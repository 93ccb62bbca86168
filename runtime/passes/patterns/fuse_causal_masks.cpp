#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/matmul/attention.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "passes/caches/growing_caches.hpp"
#include "passes/passes.hpp"
#include "passes/patterns/score_masks.hpp"
#include "passes/patterns/token_order.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

constexpr size_t kMask = 3, kLengths = 4, kKeyBias = 6;

// A mask without the part that is an order of tokens.
struct SplitMask {
  struct Condition {
    ValueId value = kNoValue;
    bool is_negated = false;
  };
  TokenOrder order;
  std::vector<Condition> conditions;  // all must hold for a key to be seen
  std::vector<ValueId> addends;       // floats
  // Keys are excluded by a finite number. A query that sees no key then has equal weights for all of them,
  // also for those that the order excludes.
  bool excludes_finitely = false;

  bool has_rest() const { return !conditions.empty() || !addends.empty(); }
};

class MaskSplitter {
 public:
  MaskSplitter(const GraphEditor& editor, const TokenPositions& positions)
      : editor_(editor), positions_(positions) {}

  SplitMask split(ValueId mask) {
    if (editor_.type(mask).dtype == DType::boolean)
      split_condition(mask, false, result_);
    else
      split_floats(mask);
    return result_;
  }

 private:
  // The value before operators that add or repeat leading dimensions.
  ValueId source_of(ValueId value) const {
    while (true) {
      ValueId input = kNoValue;
      if (const auto reshape = match_producer<ReshapeFamily>(editor_, value)) {
        input = reshape.input();
        if (without_leading_ones(editor_.type(input).shape) !=
            without_leading_ones(editor_.type(value).shape))
          return value;
      } else if (const auto expand = match_producer<Expand>(editor_, value)) {
        input = expand.input();
      } else {
        return value;
      }
      value = input;
    }
  }

  void split_condition(ValueId value, bool is_negated, SplitMask& result) const {
    const ValueId source = source_of(value);
    if (const auto x = match_unary(editor_, source, UnaryKind::logical_not))
      return split_condition(*x, !is_negated, result);
    const BinaryKind joins = is_negated ? BinaryKind::logical_or : BinaryKind::logical_and;
    if (const auto pair = match_binary(editor_, source, joins)) {
      for (const ValueId part : *pair) split_condition(part, is_negated, result);
      return;
    }
    if (const auto order = match_order(editor_, source, is_negated, positions_))
      return result.order.add(*order);
    const HostTensor* constant = is_negated ? nullptr : editor_.constant(source);
    if (const auto order = constant ? order_of(*constant, positions_) : std::nullopt)
      return result.order.add(*order);
    if (!always_holds(source, is_negated)) result.conditions.push_back({source, is_negated});
  }

  bool always_holds(ValueId value, bool is_negated) const {
    const HostTensor* constant = editor_.constant(value);
    if (constant == nullptr) return false;
    return std::ranges::all_of(constant->to_ints(),
                               [&](int64_t element) { return (element != 0) != is_negated; });
  }

  void split_floats(ValueId value) {
    const ValueId source = source_of(value);
    if (const auto sum = match_binary(editor_, source, BinaryKind::add)) {
      for (const ValueId part : *sum) split_floats(part);
      return;
    }
    if (!split_constant(source) && !split_choice(source)) result_.addends.push_back(source);
  }

  bool split_constant(ValueId value) {
    const HostTensor* constant = editor_.constant(value);
    if (constant == nullptr) return false;
    const auto order = order_of(*constant, positions_);
    if (!order) return is_zero(value);
    result_.order.add(*order);
    result_.excludes_finitely |= std::ranges::any_of(
        constant->to_floats(), [](float element) { return element != 0.0f && std::isfinite(element); });
    return true;
  }

  bool is_zero(ValueId value) const {
    const HostTensor* constant = editor_.constant(value);
    return constant != nullptr &&
           std::ranges::all_of(constant->to_floats(), [](float element) { return element == 0.0f; });
  }

  // A Where that excludes the keys which the order excludes, and maybe others.
  bool split_choice(ValueId value) {
    const auto choice = match_producer<Where>(editor_, value);
    if (!choice) return false;
    for (const size_t slot : {1, 2}) {
      const HostTensor* least = editor_.constant(choice.input(3 - slot));
      if (least == nullptr || least->elements() != 1) continue;
      const float number = least->to_floats()[0];
      if (!(number <= kNegligibleBeside)) continue;
      SplitMask part;
      split_condition(choice.input(0), slot == 2, part);
      if (!part.order) continue;
      result_.order.add(part.order);
      std::ranges::copy(part.conditions, std::back_inserter(result_.conditions));
      result_.excludes_finitely |= std::isfinite(number);
      split_floats(choice.input(slot));
      return true;
    }
    return false;
  }

  const GraphEditor& editor_;
  const TokenPositions& positions_;
  SplitMask result_;
};

class MaskReplacer {
 public:
  explicit MaskReplacer(GraphEditor& editor) : editor_(editor) {}

  void replace(size_t index) {
    const auto attention = match_node<Attention>(editor_, index);
    if (!attention || !has_input(index, kMask) || attention->weight_rounding) return;
    const Attention::Operands o = attention->operands(operator_inputs(editor_.graph(), editor_.node(index)));
    TokenPositions positions{.queries = o.q.shape[2], .keys = o.k.shape[2]};
    if (!has_input(index, kLengths)) return replace_without_lengths(index, positions, o.q.shape[0]);
    const auto start = start_of(editor_.node(index).inputs[kLengths], positions.queries);
    if (!start) return;
    positions.start = *start;
    if (const auto rest = rest_of_mask(index, positions)) apply(index, *rest, kNoValue);
  }

 private:
  bool has_input(size_t index, size_t slot) const {
    const std::vector<ValueId>& inputs = editor_.node(index).inputs;
    return slot < inputs.size() && inputs[slot] != kNoValue;
  }

  // The order of a mask, and what remains of it: kNoValue for nothing.
  struct Rest {
    TokenOrder order;
    ValueId mask = kNoValue;
  };

  // Returns nothing if the mask is no causal order, or cannot be divided into one and a mask.
  std::optional<Rest> rest_of_mask(size_t index, const TokenPositions& positions) {
    const ValueId mask = editor_.node(index).inputs[kMask];
    const auto [known, is_new] = splits_.try_emplace({mask, positions.start, positions.first});
    if (is_new) known->second = MaskSplitter(editor_, positions).split(mask);
    const SplitMask& split = known->second;
    const bool is_causal = split.order.causal || match_node<Attention>(editor_, index)->causal;
    if (!split.order || !is_causal || (split.has_rest() && split.excludes_finitely)) return std::nullopt;
    const auto joined = join(index, split);
    return joined ? std::optional(Rest{split.order, *joined}) : std::nullopt;
  }

  // Without lengths the queries are the first tokens of the keys, or, with a constant as lengths, the last.
  // In a graph with caches of a capacity, lengths are added later.
  void replace_without_lengths(size_t index, TokenPositions positions, int64_t images) {
    const Attention op = *match_node<Attention>(editor_, index).op;
    if (op.window > 0 || editor_.graph().find_value(kCacheLength)) return;
    const int64_t past = positions.keys - positions.queries;
    for (const int64_t first : {int64_t{0}, past}) {
      positions.first = first;
      if (op.causal && first != 0) continue;
      const auto rest = rest_of_mask(index, positions);
      if (!rest) continue;
      const bool needs_lengths = first != 0 || rest->order.window > 0;
      if (needs_lengths && first != past) continue;
      const std::vector<int64_t> counts(static_cast<size_t>(images), positions.keys);
      const ValueId lengths = needs_lengths ? editor_.add_constant(editor_.node(index).name + "/lengths",
                                                                   HostTensor::i64({images}, counts))
                                            : kNoValue;
      return apply(index, *rest, lengths);
    }
  }

  // Returns the tokens before the queries, if `lengths` is their sum with the number of queries.
  std::optional<ValueId> start_of(ValueId lengths, int64_t queries) const {
    const auto sum = match_binary(editor_, lengths, BinaryKind::add);
    if (!sum) return std::nullopt;
    for (const auto& [start, count] : {std::pair((*sum)[0], (*sum)[1]), std::pair((*sum)[1], (*sum)[0])}) {
      const HostTensor* constant = editor_.constant(count);
      if (constant == nullptr || element_count(editor_.type(start).shape) != 1) continue;
      if (std::ranges::all_of(constant->to_ints(), [&](int64_t value) { return value == queries; }))
        return start;
    }
    return std::nullopt;
  }

  // Returns what remains of a mask: kNoValue for nothing; no value if it cannot be a mask.
  std::optional<ValueId> join(size_t index, const SplitMask& split) {
    const ValueId old = editor_.node(index).inputs[kMask];
    const std::pair key(old, has_input(index, kKeyBias));
    const auto known = joined_.find(key);
    if (known != joined_.end()) return known->second;
    const auto has_four = [&](ValueId value) { return editor_.type(value).shape.size() <= 4; };
    const bool fits = std::ranges::all_of(split.addends, has_four) &&
                      std::ranges::all_of(split.conditions,
                                          [&](const auto& condition) { return has_four(condition.value); });
    if (!fits) return std::nullopt;
    name_ = editor_.node(index).name + "/mask";
    const DType dtype = editor_.type(old).dtype;
    ValueId condition = kNoValue, sum = kNoValue;
    for (const SplitMask::Condition& each : split.conditions) {
      const ValueId holds = each.is_negated
                                ? emit(index, unary_of(UnaryKind::logical_not), {each.value}, DType::boolean)
                                : each.value;
      condition = condition == kNoValue
                      ? holds
                      : emit(index, binary_of(BinaryKind::logical_and), {condition, holds}, DType::boolean);
    }
    for (const ValueId addend : split.addends)
      sum = sum == kNoValue ? addend : emit(index, binary_of(BinaryKind::add), {sum, addend}, dtype);
    ValueId mask = sum == kNoValue ? condition : sum;
    // A key bias is added to a mask of floats.
    if (condition != kNoValue && (sum != kNoValue || has_input(index, kKeyBias))) {
      const ValueId kept = sum != kNoValue ? sum : number(0.0f, dtype);
      mask = emit(index, std::make_shared<Where>(),
                  {condition, kept, number(-std::numeric_limits<float>::infinity(), dtype)}, dtype);
    }
    return joined_[key] = mask;
  }

  ValueId number(float value, DType dtype) {
    return editor_.add_constant(name_, HostTensor::from<float>(dtype, {}, std::vector<float>{value}));
  }

  ValueId emit(size_t index, std::shared_ptr<const Operator> op, std::vector<ValueId> inputs, DType dtype) {
    Shape shape;
    for (const ValueId input : inputs) shape = broadcast(shape, editor_.type(input).shape);
    return editor_.compute_before(index, name_, std::move(op), std::move(inputs), {dtype, shape});
  }

  void apply(size_t index, const Rest& rest, ValueId lengths) {
    Node node = editor_.node(index);
    auto op = std::make_shared<Attention>(*match_node<Attention>(editor_, index).op);
    TokenOrder both{op->causal, op->window};
    both.add(rest.order);
    op->causal = both.causal;
    op->window = both.window;
    std::vector<ValueId> inputs = node.inputs;
    inputs[kMask] = rest.mask;
    if (rest.mask == kNoValue && has_input(index, kKeyBias))
      inputs[kMask] = std::exchange(inputs[kKeyBias], kNoValue);
    if (lengths != kNoValue) {
      inputs.resize(std::max(inputs.size(), kLengths + 1), kNoValue);
      inputs[kLengths] = lengths;
    }
    while (inputs.back() == kNoValue) inputs.pop_back();
    editor_.set_operator(index, std::move(op));
    editor_.set_inputs(index, std::move(inputs));
  }

  GraphEditor& editor_;
  // Several layers may read a mask. The orders of masks, by mask, start of the queries and first position;
  // what remains of them, by mask and whether the layer has a key bias.
  std::map<std::tuple<ValueId, ValueId, std::optional<int64_t>>, SplitMask> splits_;
  std::map<std::pair<ValueId, bool>, ValueId> joined_;
  std::string name_;
};

}  // namespace

void fuse_causal_masks(Graph& graph) {
  GraphEditor editor(graph);
  MaskReplacer replacer(editor);
  for (const size_t index : editor.nodes()) replacer.replace(index);
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum

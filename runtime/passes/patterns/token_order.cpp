#include "passes/patterns/token_order.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "passes/patterns/score_masks.hpp"

namespace vellum {

void TokenOrder::add(const TokenOrder& other) {
  causal = causal || other.causal;
  if (other.window > 0) window = window > 0 ? std::min(window, other.window) : other.window;
}

namespace {

bool is_integer(DType dtype) { return dtype == DType::i64 || dtype == DType::i32; }

// Returns c if the elements are c, c + 1, c + 2, ... and c is so near to 0 that distances do not overflow.
std::optional<int64_t> ramp_begin(const HostTensor& constant) {
  constexpr int64_t kFar = int64_t{1} << 40;
  if (!is_integer(constant.dtype()) || constant.elements() == 0) return std::nullopt;
  const std::vector<int64_t> values = constant.to_ints();
  if (values[0] < -kFar || values[0] > kFar) return std::nullopt;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != values[0] + static_cast<int64_t>(i)) return std::nullopt;
  return values[0];
}

// Keys along the last dimension: c of c + key.
std::optional<int64_t> match_keys(const GraphEditor& editor, ValueId value, int64_t keys) {
  const HostTensor* constant = editor.constant(value);
  if (constant == nullptr || constant->elements() != keys) return std::nullopt;
  if (constant->shape().empty() || constant->shape().back() != keys) return std::nullopt;
  return ramp_begin(*constant);
}

// Queries along the dimension before the last: c of start + c + query.
std::optional<int64_t> match_queries(const GraphEditor& editor, ValueId value,
                                     const TokenPositions& positions) {
  const Shape& shape = editor.type(value).shape;
  const bool is_column =
      shape.size() >= 2 && shape.back() == 1 && shape[shape.size() - 2] == positions.queries;
  if (element_count(shape) != positions.queries || !(is_column || positions.queries == 1))
    return std::nullopt;
  if (value == positions.start) return positions.queries == 1 ? std::optional<int64_t>(0) : std::nullopt;
  const auto sum = match_binary(editor, value, BinaryKind::add);
  if (!sum) return std::nullopt;
  for (const auto& [start, offsets] : {std::pair((*sum)[0], (*sum)[1]), std::pair((*sum)[1], (*sum)[0])}) {
    const HostTensor* constant = editor.constant(offsets);
    if (start == positions.start && constant != nullptr && constant->elements() == positions.queries)
      return ramp_begin(*constant);
  }
  return std::nullopt;
}

BinaryKind swapped(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::less:
      return BinaryKind::greater;
    case BinaryKind::less_or_equal:
      return BinaryKind::greater_or_equal;
    case BinaryKind::greater:
      return BinaryKind::less;
    default:
      return BinaryKind::less_or_equal;
  }
}

BinaryKind negated(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::less:
      return BinaryKind::greater_or_equal;
    case BinaryKind::less_or_equal:
      return BinaryKind::greater;
    case BinaryKind::greater:
      return BinaryKind::less_or_equal;
    default:
      return BinaryKind::less;
  }
}

// The order in which a key is seen where `key` kind `position + distance` holds.
std::optional<TokenOrder> order_of(BinaryKind kind, int64_t distance) {
  const bool is_upper = kind == BinaryKind::less || kind == BinaryKind::less_or_equal;
  if (is_upper) {
    const bool ends_at_query = distance == (kind == BinaryKind::less ? 1 : 0);
    return ends_at_query ? std::optional(TokenOrder{.causal = true}) : std::nullopt;
  }
  const int64_t window = kind == BinaryKind::greater ? -distance : 1 - distance;
  return window > 0 ? std::optional(TokenOrder{.window = window}) : std::nullopt;
}

}  // namespace

std::optional<TokenOrder> match_order(const GraphEditor& editor, ValueId condition, bool is_negated,
                                      const TokenPositions& positions) {
  for (const BinaryKind kind :
       {BinaryKind::less, BinaryKind::less_or_equal, BinaryKind::greater, BinaryKind::greater_or_equal}) {
    const auto comparison = match_binary(editor, condition, kind);
    if (!comparison) continue;
    const auto& [a, b] = *comparison;
    const bool keys_first = editor.constant(a) != nullptr;
    const auto keys = match_keys(editor, keys_first ? a : b, positions.keys),
               queries = match_queries(editor, keys_first ? b : a, positions);
    if (!keys || !queries) return std::nullopt;
    const BinaryKind of_keys = keys_first ? kind : swapped(kind);
    return order_of(is_negated ? negated(of_keys) : of_keys, *queries - *keys);
  }
  return std::nullopt;
}

namespace {

// Returns for each element whether it keeps a key; nothing if one neither keeps nor excludes it.
std::optional<std::vector<bool>> kept_keys(const HostTensor& mask) {
  std::vector<bool> kept;
  for (const float value : mask.to_floats()) {
    const bool keeps = mask.dtype() == DType::boolean ? value != 0.0f : value == 0.0f;
    if (!keeps && mask.dtype() != DType::boolean && !(value <= kNegligibleBeside)) return std::nullopt;
    kept.push_back(keeps);
  }
  return kept;
}

}  // namespace

std::optional<TokenOrder> order_of(const HostTensor& mask, const TokenPositions& positions) {
  const int64_t queries = positions.queries, keys = positions.keys, first = positions.first.value_or(-1);
  if (queries < 2 || first < 0 || first + queries > keys) return std::nullopt;
  if (without_leading_ones(mask.shape()) != Shape{queries, keys}) return std::nullopt;
  if (mask.dtype() != DType::boolean && !is_float(mask.dtype())) return std::nullopt;
  const auto kept = kept_keys(mask);
  if (!kept) return std::nullopt;
  const auto sees = [&](int64_t query, int64_t key) {
    return (*kept)[static_cast<size_t>(query * keys + key)];
  };
  // The window is the number of keys that the last query sees, unless it sees all of them.
  const int64_t last = first + queries - 1;
  int64_t window = 0;
  while (window <= last && sees(queries - 1, last - window)) ++window;
  const TokenOrder order{.causal = true, .window = window > last ? 0 : window};
  if (window == 0) return std::nullopt;
  for (int64_t query = 0; query < queries; ++query)
    for (int64_t key = 0; key < keys; ++key) {
      const int64_t position = first + query;
      const bool seen = key <= position && (order.window == 0 || key > position - order.window);
      if (sees(query, key) != seen) return std::nullopt;
    }
  return order;
}

}  // namespace vellum

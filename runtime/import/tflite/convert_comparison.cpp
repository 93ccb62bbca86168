// Converters of comparisons.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/fixed_multiplier.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "import/tflite/byte_tables.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {
namespace {

// Returns the integers that LiteRT compares in place of those of a tensor, ascending: ComparisonWithScaling()
// in tflite/kernels/internal/reference/comparisons.h.
std::array<int32_t, 256> compared_integers(const ByteScale& x) {
  const FixedMultiplier by_scale = fixed_multiplier(static_cast<double>(x.scale));
  std::array<int32_t, 256> integers{};
  for (int32_t i = 0; i < 256; ++i)
    integers[static_cast<size_t>(i)] = multiply(256 * (x.low + i - x.zero), by_scale);
  return integers;
}

// Returns the two inputs of a comparison, or tables of their ranks among the integers that LiteRT compares:
// these are rounded, so that different numbers may be equal. Ranks are exact in halves.
std::vector<ValueId> compared_inputs(const Call& call, bool image) {
  std::vector<ValueId> values{call.broadcast_input(0, image), call.broadcast_input(1, image)};
  const auto a = byte_scale(call, call.input(0)), b = byte_scale(call, call.input(1));
  if (!a || !b || !(a->scale < 1.0f && b->scale < 1.0f)) return values;
  const std::array<int32_t, 256> integers[] = {compared_integers(*a), compared_integers(*b)};
  const bool differ = std::ranges::adjacent_find(integers[0]) == integers[0].end();
  if (differ && a->scale == b->scale) return values;
  std::vector<int32_t> all(integers[0].begin(), integers[0].end());
  all.insert(all.end(), integers[1].begin(), integers[1].end());
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  const ByteScale ranks{1.0f, 0, 0, static_cast<int32_t>(all.size()) - 1};
  for (size_t k = 0; k < 2; ++k) {
    const ByteScale& x = k == 0 ? *a : *b;
    const TableNode table = make_table(call, x, ranks, [&](int32_t stored) {
      const int32_t integer = integers[k][static_cast<size_t>(stored - x.low)];
      return static_cast<int32_t>(std::ranges::lower_bound(all, integer) - all.begin());
    });
    values[k] = call.emit_inner(table.op, {values[k], table.entries});
  }
  return values;
}

}  // namespace

void convert_comparison(const Call& call) {
  constexpr std::pair<std::string_view, BinaryKind> kKinds[] = {
      {"EQUAL", BinaryKind::equal},
      {"LESS", BinaryKind::less},
      {"LESS_EQUAL", BinaryKind::less_or_equal},
      {"GREATER", BinaryKind::greater},
      {"GREATER_EQUAL", BinaryKind::greater_or_equal},
  };
  const bool image = call.prefers_image();
  for (const auto& [type, kind] : kKinds)
    if (type == call.type) return call.emit(make_binary(kind), compared_inputs(call, image), image);
}

void convert_not_equal(const Call& call) {
  const bool image = call.prefers_image();
  const ValueId equal = call.emit_inner(make_binary(BinaryKind::equal), compared_inputs(call, image));
  call.emit(make_unary(UnaryKind::logical_not), {equal}, image);
}

}  // namespace vellum::tflite

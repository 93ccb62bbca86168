#include "passes/tile/strips.hpp"

#include <algorithm>

namespace vellum {
namespace {

bool is_within(size_t node, size_t first, size_t end) {
  return node != RowReads::kNone && node >= first && node < end;
}

bool reads_whole_of_another(const RowReads& reads, size_t index, size_t first) {
  const Node& node = reads.graph().nodes[index];
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] != kNoValue && is_within(reads.producer(node.inputs[i]), first, index) &&
        reads.read(index, i, {0, 1}).whole)
      return true;
  return false;
}

// A strip of an output of `rows` rows, where the output of fewest rows has `fewest`.
Rows strip_of_rows(int64_t rows, int64_t fewest, int64_t strips, int64_t strip) {
  const auto boundary = [&](int64_t at) { return rows * (fewest * at / strips) / fewest; };
  return {boundary(strip), boundary(strip + 1)};
}

}  // namespace

bool can_tile(const RowReads& reads, size_t first, size_t end) {
  for (size_t n = first; n < end; ++n)
    if (!reads.has_rows(n) || reads_whole_of_another(reads, n, first)) return false;
  return first < end;
}

std::vector<ValueId> outputs_of(const RowReads& reads, size_t first, size_t end) {
  std::vector<ValueId> outputs;
  for (size_t n = first; n < end; ++n)
    for (const ValueId output : reads.graph().nodes[n].outputs)
      if (output != kNoValue && reads.last_reader(output) != RowReads::kNone &&
          reads.last_reader(output) >= end)
        outputs.push_back(output);
  return outputs;
}

int64_t most_strips(const RowReads& reads, const std::vector<ValueId>& outputs) {
  int64_t fewest = INT64_MAX;
  for (const ValueId output : outputs) fewest = std::min(fewest, reads.value_rows(output));
  return outputs.empty() ? 1 : fewest;
}

Rows strip_of_output(const RowReads& reads, const TiledNodes& tiled, const std::vector<ValueId>& outputs,
                     ValueId output, int64_t strip) {
  return strip_of_rows(reads.value_rows(output), most_strips(reads, outputs), tiled.strips, strip);
}

std::vector<StripRows> rows_of_strip(const RowReads& reads, const TiledNodes& tiled,
                                     const std::vector<ValueId>& outputs, int64_t strip,
                                     const std::vector<StripRows>& before, const KeepRows& keep) {
  std::vector<Rows> wanted(tiled.end - tiled.first);  // per node, of all its outputs
  const auto want = [&](ValueId value, const Rows& rows) {
    Rows& of_node = wanted[reads.producer(value) - tiled.first];
    of_node = hull(of_node, rows);
  };
  const int64_t fewest = most_strips(reads, outputs);
  for (const ValueId output : outputs)
    want(output, strip_of_rows(reads.value_rows(output), fewest, tiled.strips, strip));
  const auto keeps = [&](size_t n, const Rows& again, const Rows& needed) {
    return keep ? keep(n, again, needed) : std::binary_search(tiled.kept.begin(), tiled.kept.end(), n);
  };
  std::vector<StripRows> rows(tiled.end - tiled.first);
  for (size_t n = tiled.end; n-- > tiled.first;) {
    const Node& node = reads.graph().nodes[n];
    const Rows& needed = wanted[n - tiled.first];
    if (needed.empty()) continue;
    StripRows& of_node = rows[n - tiled.first];
    of_node.held = of_node.computed = reads.computed(n, needed);
    if (!before.empty()) {
      const Rows& had = before[n - tiled.first].held;
      const Rows again{needed.begin, had.end};
      if (!again.empty() && had.begin <= again.begin && keeps(n, again, needed)) {
        of_node.computed = had.end < needed.end ? reads.computed(n, {had.end, needed.end}) : Rows{};
        of_node.held = {needed.begin, std::max(had.end, of_node.computed.end)};
      }
    }
    for (size_t i = 0; i < node.inputs.size() && !of_node.computed.empty(); ++i) {
      const ValueId input = node.inputs[i];
      if (input == kNoValue || !is_within(reads.producer(input), tiled.first, n)) continue;
      want(input, reads.read(n, i, of_node.computed).rows);
    }
  }
  return rows;
}

std::vector<std::vector<StripRows>> rows_of_strips(const RowReads& reads, const TiledNodes& tiled,
                                                   const std::vector<ValueId>& outputs) {
  std::vector<std::vector<StripRows>> strips;
  for (int64_t strip = 0; strip < tiled.strips; ++strip)
    strips.push_back(rows_of_strip(reads, tiled, outputs, strip,
                                   strips.empty() ? std::vector<StripRows>{} : strips.back()));
  return strips;
}

}  // namespace vellum

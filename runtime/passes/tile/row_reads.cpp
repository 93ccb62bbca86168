#include "passes/tile/row_reads.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "graph/operators/movement/resize.hpp"

namespace vellum {
namespace {

bool is_monotone(const std::vector<Rows>& of_row) {
  return std::is_sorted(of_row.begin(), of_row.end(),
                        [](const Rows& a, const Rows& b) { return a.begin < b.begin || a.end < b.end; });
}

}  // namespace

RowReads::RowReads(const Graph& graph, std::span<const int64_t> computed_together,
                   const std::vector<bool>& fixed, ImageAxis axis)
    : graph_(graph),
      axis_(axis),
      axes_(rows_axes(graph, axis)),
      producers_(graph.values.size(), kNone),
      last_readers_(graph.values.size(), kNone) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId output : graph.nodes[n].outputs)
      if (output != kNoValue) producers_[output] = n;
    for (const ValueId input : graph.nodes[n].inputs)
      if (input != kNoValue) last_readers_[input] = n;
  }
  for (const ValueId output : graph.outputs) last_readers_[output] = graph.nodes.size();
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const bool may = fixed.empty() || !fixed[n];
    nodes_.push_back(may ? find_rows(n, computed_together.empty() ? 1 : computed_together[n]) : NodeRows{});
  }
}

RowReads::NodeRows RowReads::find_rows(size_t node_index, int64_t together) const {
  const Node& node = graph_.nodes[node_index];
  NodeRows found;
  found.has_rows = vellum::has_rows(graph_, axes_, node, axis_);
  if (!found.has_rows) return found;
  found.together = std::lcm(together, rows_computed_together(node, axis_));
  found.row_count = value_rows(node.outputs[0]);
  found.inputs.resize(node.inputs.size());
  if (axis_ == ImageAxis::images) {
    const std::vector<RowsRead> reads = rows_read(graph_, node, {0, 1}, axis_);
    for (size_t i = 0; i < reads.size(); ++i) found.inputs[i].whole = reads[i].whole;
    return found;
  }
  if (dynamic_cast<const Resize*>(node.op.get()) != nullptr) {
    std::vector<Rows> of_row = rows_resized(graph_, node, axis_);
    const bool monotone = is_monotone(of_row);
    found.inputs[0] = {false, true, monotone, std::move(of_row)};
    return found;
  }
  for (int64_t row = 0; row < found.row_count; ++row) {
    const std::vector<RowsRead> reads = rows_read(graph_, node, {row, row + 1}, axis_);
    for (size_t i = 0; i < reads.size(); ++i) {
      found.inputs[i].whole = reads[i].whole;
      found.inputs[i].may_be_more = reads[i].may_be_more;
      if (!reads[i].whole) found.inputs[i].of_row.push_back(reads[i].rows);
    }
  }
  for (Input& input : found.inputs) input.monotone = is_monotone(input.of_row);
  return found;
}

Rows RowReads::computed(size_t node, const Rows& wanted) const {
  const int64_t together = nodes_[node].together;
  if (together == 1 || wanted.empty()) return wanted;
  return {wanted.begin / together * together,
          std::min((wanted.end + together - 1) / together * together, nodes_[node].row_count)};
}

RowsRead RowReads::read(size_t node, size_t slot, const Rows& computed) const {
  const Input& input = nodes_[node].inputs[slot];
  if (input.whole) return {};
  if (axis_ == ImageAxis::images) return {false, computed};
  const auto first = input.of_row.begin() + computed.begin, end = input.of_row.begin() + computed.end;
  Rows rows = *first;
  if (input.monotone)
    rows = hull(rows, *(end - 1));
  else
    rows = std::accumulate(first, end, rows, hull);
  return {false, rows, input.may_be_more};
}

AxisReads::AxisReads(const Graph& graph, std::span<const int64_t> computed_together,
                     const std::vector<bool>& fixed)
    : rows(graph, computed_together, fixed), images(graph, {}, fixed, ImageAxis::images) {}

}  // namespace vellum

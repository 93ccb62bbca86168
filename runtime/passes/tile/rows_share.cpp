#include "passes/tile/rows_share.hpp"

#include "graph/operators/movement/resize.hpp"
#include "passes/tile/window_rows.hpp"

namespace vellum {
namespace {

constexpr size_t kRowsAxis = 2;

Rows all_rows_read(const Graph& graph, const Node& node) {
  const Shape& y = graph.values[node.outputs[0]].type.shape;
  if (row_window(graph, node)) return window_rows_read(graph, node, {0, y[kRowsAxis]}).rows;
  Rows rows;
  if (const auto* resize = dynamic_cast<const Resize*>(node.op.get()))
    for (const ResizeTaps& row : resize->taps(resize->geometry(operator_inputs(graph, node)), kRowsAxis))
      for (const ResizeTap& tap : row.taps) rows = hull(rows, {tap.index, tap.index + 1});
  return rows;
}

}  // namespace

double share_of_rows_read(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || node.inputs[0] == kNoValue || node.outputs.empty() ||
      node.outputs[0] == kNoValue)
    return 1;
  const Shape& x = graph.values[node.inputs[0]].type.shape;
  if (x.size() != 4 || graph.values[node.outputs[0]].type.shape.size() != 4 || element_count(x) == 0)
    return 1;
  const Rows rows = all_rows_read(graph, node);
  return rows.empty() ? 1 : static_cast<double>(rows.count()) / static_cast<double>(x[kRowsAxis]);
}

}  // namespace vellum

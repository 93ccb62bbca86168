#include "passes/patterns/channel_means.hpp"

#include <algorithm>

#include "graph/operators/reduction/pool.hpp"
#include "graph/operators/reduction/reduce.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

bool all_zero(const Ints& amounts) {
  return std::all_of(amounts.begin(), amounts.end(), [](int64_t amount) { return amount == 0; });
}

}  // namespace

bool has_one_position(const Shape& shape) {
  return shape.size() >= 3 && shape.size() <= 4 && product(shape, 2, shape.size()) == 1;
}

bool computes_means(const GraphEditor& editor, size_t index) {
  const Node& node = editor.node(index);
  const Shape& shape = editor.type(node.inputs[0]).shape;
  if (!has_one_position(editor.type(node.outputs[0]).shape) || shape.size() > 4) return false;
  if (const auto pool = match_node<GlobalPool>(editor, index)) return pool->kind == PoolKind::average;
  if (const auto reduce = match_node<Reduce>(editor, index)) {
    if (reduce->kind != ReduceKind::mean || !reduce->keep_dims || reduce->fixed_mean) return false;
    const std::vector<size_t> axes = reduce->reduced_axes(operator_inputs(editor.graph(), node));
    return axes.size() == shape.size() - 2 &&
           std::none_of(axes.begin(), axes.end(), [](size_t axis) { return axis < 2; });
  }
  const auto pool = match_node<Pool>(editor, index);
  if (!pool || pool->kind != PoolKind::average || pool->activation || pool->fixed_average) return false;
  const WindowPlacement window = pool->place(operator_inputs(editor.graph(), node));
  return window.kernel == window.input && all_zero(window.pads_begin) && all_zero(window.pads_end);
}

}  // namespace vellum

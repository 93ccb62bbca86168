// x[0] + x[1] + ... of all slices along some axes is a reduction: torch exports adaptive pools whose windows
// differ in size so.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "graph/operators/movement/gather.hpp"
#include "graph/operators/reduction/reduce.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// The part of `source` that has these indices along these axes. The other axes are those of the slice.
struct TensorSlice {
  ValueId source = kNoValue;
  std::map<size_t, int64_t> at;
};

// The axis of the source that is axis `axis` of the slice.
size_t axis_of_source(const TensorSlice& slice, size_t axis) {
  for (const auto& [sliced, index] : slice.at)
    if (sliced <= axis) ++axis;
  return axis;
}

// Follows Gathers of one index each, from the last to the first.
TensorSlice slice_of(const GraphEditor& editor, ValueId value) {
  std::vector<std::pair<size_t, int64_t>> steps;
  for (;;) {
    const auto gather = match_producer<Gather>(editor, value);
    const HostTensor* index = gather ? editor.constant(gather.input(1)) : nullptr;
    if (index == nullptr || !index->shape().empty()) break;
    const Shape& shape = editor.type(gather.input()).shape;
    const size_t axis = normalize_axis(gather->axis, shape.size());
    steps.emplace_back(axis, checked_index(index->to_ints()[0], shape[axis]));
    value = gather.input();
  }
  TensorSlice slice{value, {}};
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    slice.at.emplace(axis_of_source(slice, step->first), step->second);
  return slice;
}

// The slices whose sum node `root` computes; empty if a summand is no slice of the first one's source along
// the same axes.
std::vector<TensorSlice> summed_slices(const GraphEditor& editor, size_t root) {
  std::vector<TensorSlice> slices;
  std::vector<ValueId> open = editor.node(root).inputs;
  while (!open.empty()) {
    const ValueId value = open.back();
    open.pop_back();
    const auto operands =
        editor.only_reader(value) ? match_binary(editor, value, BinaryKind::add) : std::nullopt;
    if (operands) {
      open.insert(open.end(), operands->begin(), operands->end());
      continue;
    }
    slices.push_back(slice_of(editor, value));
    const auto same_axes = [](const auto& a, const auto& b) { return a.first == b.first; };
    if (slices.back().at.empty() || slices.back().source != slices[0].source ||
        slices.back().at.size() != slices[0].at.size() ||
        !std::equal(slices.back().at.begin(), slices.back().at.end(), slices[0].at.begin(), same_axes))
      return {};
  }
  return slices;
}

// Whether the slices are all along their axes, each once.
bool are_all(const std::vector<TensorSlice>& slices, const Shape& source) {
  int64_t count = 1;
  for (const auto& [axis, index] : slices[0].at) count *= source[axis];
  std::set<std::map<size_t, int64_t>> distinct;
  for (const TensorSlice& slice : slices) distinct.insert(slice.at);
  return std::ssize(slices) == count && std::ssize(distinct) == count;
}

void replace_by_reduction(GraphEditor& editor, size_t index) {
  const ValueId sum = editor.node(index).outputs[0];
  if (!match_binary_node(editor, index, BinaryKind::add) || !is_float_value(editor, sum) ||
      !editor.is_read(sum))
    return;
  const std::vector<TensorSlice> slices = summed_slices(editor, index);
  if (slices.empty() || !are_all(slices, editor.type(slices[0].source).shape)) return;
  auto op = std::make_shared<Reduce>();
  op->kind = ReduceKind::sum;
  op->keep_dims = false;
  op->axes.emplace();
  Shape shape;
  const Shape& source = editor.type(slices[0].source).shape;
  for (size_t axis = 0; axis < source.size(); ++axis)
    if (slices[0].at.contains(axis))
      op->axes->push_back(static_cast<int64_t>(axis));
    else
      shape.push_back(source[axis]);
  if (shape != editor.type(sum).shape) return;  // a summand broadcasts
  editor.replace(index, std::move(op), {slices[0].source});
}

}  // namespace

void fuse_slice_sums(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes_backwards()) replace_by_reduction(editor, index);
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum

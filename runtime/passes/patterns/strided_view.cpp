#include "passes/patterns/strided_view.hpp"

#include <optional>

#include "graph/operators/gather.hpp"
#include "graph/operators/reshape.hpp"
#include "graph/operators/slice.hpp"
#include "graph/operators/transpose.hpp"

namespace vellum {
namespace {

std::optional<StridedView> transposed(const StridedView& view, const Transpose& op) {
  StridedView result{view.offset, {}, {}};
  for (const size_t axis : op.permutation(view.shape.size())) {
    result.shape.push_back(view.shape[axis]);
    result.strides.push_back(view.strides[axis]);
  }
  return result;
}

std::optional<StridedView> sliced(StridedView view, const Slice& op, Inputs inputs) {
  for (size_t i = 1; i < inputs.size(); ++i)
    if (inputs[i].present && inputs[i].constant == nullptr) return std::nullopt;
  const SliceRange range = op.range(inputs);
  for (size_t axis = 0; axis < view.shape.size(); ++axis) {
    view.offset += range.starts[axis] * view.strides[axis];
    view.strides[axis] *= range.steps[axis];
  }
  view.shape = range.output;
  return view;
}

// One element along the axis, which is removed.
std::optional<StridedView> gathered(StridedView view, const Gather& op, Inputs inputs) {
  const HostTensor* index = inputs[1].constant;
  if (index == nullptr || !index->shape().empty()) return std::nullopt;
  const size_t axis = normalize_axis(op.axis, view.shape.size());
  int64_t at = index->to_ints()[0];
  if (at < 0) at += view.shape[axis];
  if (at < 0 || at >= view.shape[axis]) return std::nullopt;
  view.offset += at * view.strides[axis];
  view.shape.erase(view.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(axis));
  return view;
}

// Without dimensions of one element, whose strides mean nothing.
StridedView squeezed(const StridedView& view) {
  StridedView result{view.offset, {}, {}};
  for (size_t i = 0; i < view.shape.size(); ++i) {
    if (view.shape[i] == 1) continue;
    result.shape.push_back(view.shape[i]);
    result.strides.push_back(view.strides[i]);
  }
  return result;
}

// Splits both shapes, from the outermost dimension on, into groups of equal element count. The view's
// dimensions of a group must follow one another in memory.
std::optional<StridedView> reshaped(const StridedView& view, const Shape& shape) {
  if (element_count(shape) == 0) return std::nullopt;
  const StridedView from = squeezed(view);
  StridedView to{view.offset, shape, std::vector<int64_t>(shape.size(), 0)};
  size_t i = 0, j = 0;
  while (i < from.shape.size()) {
    size_t first = j, last = i;
    int64_t from_count = from.shape[i++], to_count = 1;
    while (to_count != from_count) {
      if (to_count < from_count) {
        if (j == shape.size()) return std::nullopt;
        to_count *= shape[j++];
      } else {
        if (i == from.shape.size() || from.strides[last] != from.strides[i] * from.shape[i])
          return std::nullopt;
        last = i;
        from_count *= from.shape[i++];
      }
    }
    int64_t stride = from.strides[last];
    for (size_t k = j; k-- > first;) {
      to.strides[k] = stride;
      stride *= shape[k];
    }
  }
  return to;
}

std::optional<StridedView> through(const GraphEditor& editor, const Node& node, const StridedView& input) {
  const auto inputs = operator_inputs(editor.graph(), node);
  if (const auto* op = dynamic_cast<const Transpose*>(node.op.get())) return transposed(input, *op);
  if (const auto* op = dynamic_cast<const Slice*>(node.op.get())) return sliced(input, *op, inputs);
  if (const auto* op = dynamic_cast<const Gather*>(node.op.get())) return gathered(input, *op, inputs);
  if (dynamic_cast<const ReshapeFamily*>(node.op.get()) != nullptr)
    return reshaped(input, editor.type(node.outputs[0]).shape);
  return std::nullopt;
}

bool rearranges(const Node& node) {
  const Operator* op = node.op.get();
  return node.outputs.size() == 1 && !node.inputs.empty() &&
         (dynamic_cast<const Transpose*>(op) != nullptr || dynamic_cast<const Slice*>(op) != nullptr ||
          dynamic_cast<const Gather*>(op) != nullptr || dynamic_cast<const ReshapeFamily*>(op) != nullptr);
}

ViewedValue view_of_itself(const GraphEditor& editor, ValueId value) {
  const Shape& shape = editor.type(value).shape;
  return {value, {0, shape, row_major_strides(shape)}};
}

}  // namespace

ViewedValue view_of(const GraphEditor& editor, ValueId value) {
  // Heads are split in three or four steps. The view is built forwards, from the first of these steps: a step
  // whose result is no view of its input becomes the source of the next ones.
  constexpr size_t kMostSteps = 16;
  std::vector<const Node*> steps;
  ValueId source = value;
  while (steps.size() < kMostSteps) {
    const auto producer = editor.producer(source);
    if (!producer || !rearranges(editor.node(*producer))) break;
    steps.push_back(&editor.node(*producer));
    source = steps.back()->inputs[0];
  }
  ViewedValue viewed = view_of_itself(editor, source);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    auto view = through(editor, **step, viewed.view);
    viewed =
        view ? ViewedValue{viewed.source, std::move(*view)} : view_of_itself(editor, (*step)->outputs[0]);
  }
  return viewed;
}

}  // namespace vellum

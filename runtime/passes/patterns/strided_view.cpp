#include "passes/patterns/strided_view.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/slice.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "passes/rewrite/match.hpp"

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

std::optional<StridedView> split(StridedView view, const Split& op, Inputs inputs, size_t output) {
  if (inputs.size() > 1 && inputs[1].present && inputs[1].constant == nullptr) return std::nullopt;
  const size_t axis = normalize_axis(op.axis, view.shape.size());
  const Ints sizes = op.sizes(inputs);
  for (size_t i = 0; i < output; ++i) view.offset += sizes[i] * view.strides[axis];
  view.shape[axis] = sizes[output];
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

// A node on the way back from a value, and which of its outputs is on it.
struct Step {
  const Node* node = nullptr;
  ValueId output = kNoValue;
  std::optional<double> scale;  // of a node that only multiplies
};

std::optional<StridedView> through(const GraphEditor& editor, const Step& step, const StridedView& input) {
  const Node& node = *step.node;
  const auto inputs = operator_inputs(editor.graph(), node);
  if (const auto* op = dynamic_cast<const Transpose*>(node.op.get())) return transposed(input, *op);
  if (const auto* op = dynamic_cast<const Slice*>(node.op.get())) return sliced(input, *op, inputs);
  if (const auto* op = dynamic_cast<const Gather*>(node.op.get())) return gathered(input, *op, inputs);
  if (const auto* op = dynamic_cast<const Split*>(node.op.get())) {
    const auto output = std::find(node.outputs.begin(), node.outputs.end(), step.output);
    return split(input, *op, inputs, static_cast<size_t>(output - node.outputs.begin()));
  }
  if (dynamic_cast<const ReshapeFamily*>(node.op.get()) != nullptr)
    return reshaped(input, editor.type(step.output).shape);
  return std::nullopt;
}

bool rearranges(const Node& node) {
  const Operator* op = node.op.get();
  if (node.inputs.empty()) return false;
  if (dynamic_cast<const Split*>(op) != nullptr) return true;
  return node.outputs.size() == 1 &&
         (dynamic_cast<const Transpose*>(op) != nullptr || dynamic_cast<const Slice*>(op) != nullptr ||
          dynamic_cast<const Gather*>(op) != nullptr || dynamic_cast<const ReshapeFamily*>(op) != nullptr);
}

// The factor that a node multiplies its input by.
std::optional<ScalarStep> scaling(const GraphEditor& editor, ValueId value) {
  const auto step = match_scalar(editor, value);
  return step && step->kind == BinaryKind::mul ? step : std::nullopt;
}

ViewedValue view_of_itself(const GraphEditor& editor, ValueId value) {
  const Shape& shape = editor.type(value).shape;
  return {value, {0, shape, row_major_strides(shape)}};
}

// A dimension of a copy: a digit of the offsets in the tensor that was copied.
struct Digit {
  int64_t size = 1, stride = 1;  // in the tensor
  int64_t copy_stride = 1;
  int64_t largest = 0;  // of the elements of a part
};

// Returns the digits from the first to the last. Nothing if the copy has some elements twice, or not at all.
std::optional<std::vector<Digit>> digits_of_copy(const StridedView& whole) {
  std::vector<Digit> digits;
  const std::vector<int64_t> strides = row_major_strides(whole.shape);
  for (size_t axis = 0; axis < whole.shape.size(); ++axis)
    if (whole.shape[axis] != 1) digits.push_back({whole.shape[axis], whole.strides[axis], strides[axis], 0});
  std::ranges::sort(digits, std::ranges::greater{}, &Digit::stride);
  int64_t elements = element_count(whole.shape);
  for (const Digit& digit : digits) {
    if (digit.stride * digit.size != elements) return std::nullopt;
    elements = digit.stride;
  }
  if (whole.offset != 0 || elements != 1) return std::nullopt;
  return digits;
}

}  // namespace

ViewedValue view_of(const GraphEditor& editor, ValueId value, Scalings scalings) {
  // Heads are split in three or four steps. The view is built forwards, from the first of these steps: a step
  // whose result is no view of its input becomes the source of the next ones.
  constexpr size_t kMostSteps = 16;
  std::vector<Step> steps;
  ValueId source = value;
  while (steps.size() < kMostSteps) {
    const auto producer = editor.producer(source);
    if (!producer) break;
    const Node& node = editor.node(*producer);
    const auto scaled = scalings == Scalings::passed ? scaling(editor, source) : std::nullopt;
    if (!scaled && !rearranges(node)) break;
    steps.push_back({&node, source, scaled ? std::optional<double>(scaled->scalar) : std::nullopt});
    source = scaled ? scaled->input : node.inputs[0];
  }
  ViewedValue viewed = view_of_itself(editor, source);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (step->scale)
      viewed.scale *= *step->scale;
    else if (auto view = through(editor, *step, viewed.view))
      viewed.view = std::move(*view);
    else
      viewed = view_of_itself(editor, step->output);
  }
  return viewed;
}

std::optional<StridedView> view_in_copy(const StridedView& part, const StridedView& whole) {
  auto digits = digits_of_copy(whole);
  if (!digits) return std::nullopt;
  StridedView view{0, part.shape, std::vector<int64_t>(part.shape.size(), 0)};
  int64_t offset = part.offset;
  for (Digit& digit : *digits) {
    digit.largest = offset / digit.stride;
    view.offset += digit.largest * digit.copy_stride;
    offset %= digit.stride;
  }
  for (size_t axis = 0; axis < part.shape.size(); ++axis) {
    const int64_t stride = part.strides[axis];
    if (part.shape[axis] == 1 || stride == 0) continue;
    const auto digit =
        std::ranges::find_if(*digits, [&](const Digit& other) { return stride % other.stride == 0; });
    if (stride < 0 || digit == digits->end()) return std::nullopt;
    const int64_t steps = stride / digit->stride;
    view.strides[axis] = steps * digit->copy_stride;
    digit->largest += steps * (part.shape[axis] - 1);
  }
  // Beyond its size a digit would be carried to the next one.
  if (std::ranges::any_of(*digits, [](const Digit& digit) { return digit.largest >= digit.size; }))
    return std::nullopt;
  return view;
}

}  // namespace vellum

#include <algorithm>
#include <optional>
#include <vector>

#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/depth_to_space.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/pad.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/resize.hpp"
#include "graph/operators/movement/slice.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// One to a narrow type rounds.
bool is_plain_cast(const Operator& op) {
  const auto* cast = dynamic_cast<const Cast*>(&op);
  return cast != nullptr && cast->narrow == nullptr;
}

bool all_equal(const Ints& values, int64_t expected) {
  return std::all_of(values.begin(), values.end(), [&](int64_t value) { return value == expected; });
}

// Whether each output element is the input element of the same index wherever input and output have the same
// shape.
bool keeps_elements_in_place(const Operator& op) {
  return dynamic_cast<const ReshapeFamily*>(&op) != nullptr || dynamic_cast<const Dropout*>(&op) != nullptr ||
         is_plain_cast(op) || dynamic_cast<const Concat*>(&op) != nullptr ||
         dynamic_cast<const Split*>(&op) != nullptr || dynamic_cast<const Expand*>(&op) != nullptr ||
         dynamic_cast<const Tile*>(&op) != nullptr;
}

// Whether an operator that may move or change elements without changing the shape does neither.
bool moves_nothing(const Operator& op, Inputs inputs) {
  if (const auto* transpose = dynamic_cast<const Transpose*>(&op)) {
    const auto order = transpose->permutation(inputs[0].type.shape.size());
    return std::is_sorted(order.begin(), order.end());
  }
  if (const auto* pad = dynamic_cast<const Pad*>(&op)) {
    const PadAmounts amounts = pad->amounts(inputs);
    return all_equal(amounts.begin, 0) && all_equal(amounts.end, 0);
  }
  if (const auto* slice = dynamic_cast<const Slice*>(&op)) {
    const SliceRange range = slice->range(inputs);
    return all_equal(range.starts, 0) && all_equal(range.steps, 1);
  }
  if (const auto* resize = dynamic_cast<const Resize*>(&op)) {
    if (resize->coordinates == CoordinateMode::tf_crop_and_resize) return false;
    const ResizeGeometry geometry = resize->geometry(inputs);
    return std::all_of(geometry.scales.begin(), geometry.scales.end(),
                       [](float scale) { return scale == 1.0f; });
  }
  if (const auto* depth = dynamic_cast<const DepthToSpace*>(&op)) return depth->block == 1;
  if (const auto* space = dynamic_cast<const SpaceToDepth*>(&op)) return space->block == 1;
  return false;
}

// x + 0, x - 0, x * 1, x / 1.
bool is_neutral(const GraphEditor& editor, size_t index) {
  const auto binary = match_binary_constant(editor, index);
  if (!binary) return false;
  float neutral = 0.0f;
  switch (binary->op->kind) {
    case BinaryKind::add:
      break;
    case BinaryKind::mul:
      neutral = 1.0f;
      break;
    case BinaryKind::sub:
    case BinaryKind::div:
      if (binary->data_slot != 0) return false;
      neutral = binary->op->kind == BinaryKind::sub ? 0.0f : 1.0f;
      break;
    default:
      return false;
  }
  const std::vector<float> elements = binary->constant->to_floats();
  return std::all_of(elements.begin(), elements.end(), [&](float x) { return x == neutral; });
}

// The input that the node's first output equals, where no other output is read.
std::optional<size_t> copied_slot(const GraphEditor& editor, size_t index) {
  const Node& node = editor.node(index);
  if (node.inputs.empty() || node.outputs.empty() || node.outputs[0] == kNoValue) return std::nullopt;
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    const ValueId other = node.outputs[i];
    if (other != kNoValue && editor.is_read(other)) return std::nullopt;
  }
  if (is_neutral(editor, index)) return match_binary_constant(editor, index)->data_slot;
  if (node.inputs[0] == kNoValue || editor.type(node.inputs[0]) != editor.type(node.outputs[0]))
    return std::nullopt;
  // A Concat too: of one input, or with empty ones after it.
  if (keeps_elements_in_place(*node.op)) return 0;
  return moves_nothing(*node.op, operator_inputs(editor.graph(), node)) ? std::optional<size_t>(0)
                                                                        : std::nullopt;
}

}  // namespace

void remove_identities(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes())
    if (const auto slot = copied_slot(editor, index)) editor.bypass(index, *slot);
  editor.commit();
}

}  // namespace vellum

// Channels that are shuffled between groups (ShuffleNet, Zhang et al., arXiv 1707.01083, section 3.1): a
// Reshape splits them, a Transpose exchanges groups, a Reshape merges them; a Concat may be before them,
// Slices after them.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/pick_channels.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "passes/passes.hpp"
#include "passes/patterns/strided_view.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// Channel i of a value is channel channels[i] of the concatenated channels of `inputs`.
struct Picked {
  std::vector<ValueId> inputs;
  Ints channels;
};

// Which channels of an image of shape `source` the view's dimensions between the first and the last two
// count; nothing where the view is not one of whole channels.
std::optional<Ints> channels_of(const StridedView& view, const Shape& source) {
  if (source.size() != 4 || view.shape.size() < 4) return std::nullopt;
  const int64_t height = source[2], width = source[3], plane = height * width;
  const size_t rank = view.shape.size();
  const bool whole =
      view.shape[0] == source[0] && view.shape[rank - 2] == height && view.shape[rank - 1] == width;
  const bool in_place = (source[0] == 1 || view.strides[0] == source[1] * plane) &&
                        (height == 1 || view.strides[rank - 2] == width) &&
                        (width == 1 || view.strides[rank - 1] == 1);
  if (!whole || !in_place || plane == 0) return std::nullopt;
  Ints offsets{view.offset};
  for (size_t axis = 1; axis + 2 < rank; ++axis) {
    Ints next;
    for (const int64_t offset : offsets)
      for (int64_t i = 0; i < view.shape[axis]; ++i) next.push_back(offset + i * view.strides[axis]);
    offsets = std::move(next);
  }
  for (int64_t& offset : offsets) {
    if (offset % plane != 0) return std::nullopt;
    offset /= plane;
  }
  return offsets;
}

// `value` as channels of the values that its producer rearranges.
std::optional<Picked> match_rearranged(const GraphEditor& editor, ValueId value) {
  if (const auto pick = match_producer<PickChannels>(editor, value))
    return Picked{pick.node->inputs, pick->channels};
  ViewedValue viewed = view_of(editor, value);
  if (viewed.source == value) {
    // A Reshape that merges dimensions which do not follow one another in memory is no view.
    const auto reshape = match_producer<ReshapeFamily>(editor, value);
    if (!reshape) return std::nullopt;
    viewed = view_of(editor, reshape.input());
    if (viewed.source == reshape.input()) return std::nullopt;
  }
  auto channels = channels_of(viewed.view, editor.type(viewed.source).shape);
  if (!channels || editor.type(value).shape.size() != 4 ||
      editor.type(value).shape[1] != static_cast<int64_t>(channels->size()))
    return std::nullopt;
  return Picked{{viewed.source}, std::move(*channels)};
}

// The inputs of a Concat of two values along channels.
std::optional<std::vector<ValueId>> match_concat_of_two(const GraphEditor& editor, ValueId value) {
  const auto concat = match_producer<Concat>(editor, value);
  if (!concat || normalize_axis(concat->axis, editor.type(value).shape.size()) != 1) return std::nullopt;
  return concat.node->inputs.size() == 2 ? std::optional(concat.node->inputs) : std::nullopt;
}

// `value` as channels of the values farthest back that are only rearranged.
Picked trace(const GraphEditor& editor, ValueId value) {
  Picked picked{{value}, Ints(static_cast<size_t>(editor.type(value).shape[1]))};
  std::iota(picked.channels.begin(), picked.channels.end(), int64_t{0});
  while (picked.inputs.size() == 1) {
    auto before = match_rearranged(editor, picked.inputs[0]);
    if (!before) break;
    for (int64_t& channel : picked.channels) channel = before->channels[static_cast<size_t>(channel)];
    picked.inputs = std::move(before->inputs);
  }
  if (picked.inputs.size() == 1)
    if (auto pair = match_concat_of_two(editor, picked.inputs[0])) picked.inputs = std::move(*pair);
  return picked;
}

// Channels that follow one another are copied (or viewed) faster by Slices.
bool are_shuffled(const Ints& channels) {
  return std::adjacent_find(channels.begin(), channels.end(),
                            [](int64_t a, int64_t b) { return b != a + 1; }) != channels.end();
}

void replace_by_pick_channels(GraphEditor& editor, size_t index) {
  const Node& node = editor.node(index);
  if (node.outputs.size() != 1 || !is_float_value(editor, node.outputs[0])) return;
  const ValueId output = node.outputs[0];
  if (editor.type(output).shape.size() != 4) return;
  Picked picked = trace(editor, output);
  if (!are_shuffled(picked.channels)) return;
  auto op = std::make_shared<PickChannels>();
  op->channels = std::move(picked.channels);
  editor.replace(index, std::move(op), std::move(picked.inputs));
}

}  // namespace

void fuse_channel_shuffle(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) replace_by_pick_channels(editor, index);
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum

// Channels that are shuffled between groups: a Reshape that parts them, a Transpose, a Reshape that joins
// them, with a Concat before and Slices behind.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "graph/operators/concat.hpp"
#include "graph/operators/pick_channels.hpp"
#include "graph/operators/reshape.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/pattern.hpp"
#include "passes/layout/strided_view.hpp"

namespace vellum {
namespace {

// Channel i of a value is channel channels[i] of all that `inputs` have, one after the other.
struct Picked {
  std::vector<ValueId> inputs;
  Ints channels;
};

// The channels of an image `source` that `view` sees, whose dimensions between the first and the last two
// count them; nothing where it sees anything but whole channels.
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

// `value` as channels of what it rearranges, one step back.
std::optional<Picked> rearranged(const GraphEditor& editor, ValueId value) {
  if (const auto* pick = producer_as<PickChannels>(editor, value))
    return Picked{editor.node(*editor.producer(value)).inputs, pick->channels};
  ViewedValue viewed = view_of(editor, value);
  if (viewed.source == value) {
    // Dimensions that do not follow one another in memory can only be joined by moving them.
    if (producer_as<ReshapeFamily>(editor, value) == nullptr) return std::nullopt;
    const ValueId parted = editor.node(*editor.producer(value)).inputs[0];
    viewed = view_of(editor, parted);
    if (viewed.source == parted) return std::nullopt;
  }
  auto channels = channels_of(viewed.view, editor.type(viewed.source).shape);
  if (!channels || editor.type(value).shape.size() != 4 ||
      editor.type(value).shape[1] != static_cast<int64_t>(channels->size()))
    return std::nullopt;
  return Picked{{viewed.source}, std::move(*channels)};
}

// The two inputs of a concatenation along channels.
std::optional<std::vector<ValueId>> joined_pair(const GraphEditor& editor, ValueId value) {
  const auto* concat = producer_as<Concat>(editor, value);
  if (concat == nullptr || normalize_axis(concat->axis, editor.type(value).shape.size()) != 1)
    return std::nullopt;
  const std::vector<ValueId>& inputs = editor.node(*editor.producer(value)).inputs;
  return inputs.size() == 2 ? std::optional(inputs) : std::nullopt;
}

Picked trace(const GraphEditor& editor, ValueId value) {
  Picked picked{{value}, Ints(static_cast<size_t>(editor.type(value).shape[1]))};
  std::iota(picked.channels.begin(), picked.channels.end(), int64_t{0});
  while (picked.inputs.size() == 1) {
    auto before = rearranged(editor, picked.inputs[0]);
    if (!before) break;
    for (int64_t& channel : picked.channels) channel = before->channels[static_cast<size_t>(channel)];
    picked.inputs = std::move(before->inputs);
  }
  if (picked.inputs.size() == 1)
    if (auto pair = joined_pair(editor, picked.inputs[0])) picked.inputs = std::move(*pair);
  return picked;
}

// Slices alone leave channels in a row, which copies (or views) do better.
bool are_shuffled(const Ints& channels) {
  return std::adjacent_find(channels.begin(), channels.end(),
                            [](int64_t a, int64_t b) { return b != a + 1; }) != channels.end();
}

void match(GraphEditor& editor, size_t index) {
  const Node& node = editor.node(index);
  if (node.outputs.size() != 1 || !is_float_value(editor, node.outputs[0])) return;
  const ValueId output = node.outputs[0];
  if (editor.type(output).shape.size() != 4) return;
  Picked picked = trace(editor, output);
  if (!are_shuffled(picked.channels)) return;
  auto op = std::make_shared<PickChannels>();
  op->channels = std::move(picked.channels);
  editor.set_operator(index, std::move(op));
  editor.set_inputs(index, std::move(picked.inputs));
}

}  // namespace

void fuse_channel_shuffle(Graph& graph) {
  GraphEditor editor(graph);
  for (size_t i = 0; i < editor.node_count(); ++i) match(editor, i);
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum

// Depthwise convolutions of parts of one tensor's channels, whose results are concatenated again, become one:
// the mixed windows of MixNet (Tan and Le, MixConv: Mixed Depthwise Convolutional Kernels, arXiv 1907.09595),
// the relative positions of CoaT. Its window is that of the largest of them. Each channel multiplies the taps
// of its own window only (ChannelTaps), so that infinities and NaN reach no more pixels than before.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/slice.hpp"
#include "passes/fuse/window_within.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// The products of the merged layer by those of the parts. Beyond it the layer costs more than the copies that
// it saves.
constexpr int64_t kMostWork = 2;

// Channels [begin, begin + count) of a tensor, and the node that picks them.
struct ChannelRange {
  ValueId tensor = kNoValue;
  int64_t begin = 0, count = 0;
  size_t node = 0;
};

// A depthwise convolution of a part of the channels.
struct BankPart {
  size_t index = 0;
  ChannelRange channels;
  std::shared_ptr<const Conv> conv;
  WindowPlacement window;  // of three spatial axes
  Shape shape;             // of the weights
  std::vector<float> weights, bias;

  int64_t taps() const { return element_count(window.kernel); }
};

std::optional<ChannelRange> range_of_split(const GraphEditor& editor, const Match<Split>& split,
                                           ValueId value) {
  const Shape& shape = editor.type(split.input()).shape;
  if (normalize_axis(split->axis, shape.size()) != 1 || !is_constant_or_absent(editor, *split.node, 1))
    return std::nullopt;
  const Ints sizes = split->sizes(operator_inputs(editor.graph(), *split.node));
  ChannelRange range{split.input(), 0, 0, split.index};
  for (size_t i = 0; split.node->outputs[i] != value; ++i) range.begin += sizes[i];
  range.count = editor.type(value).shape[1];
  return range;
}

std::optional<ChannelRange> range_of_slice(const GraphEditor& editor, const Match<Slice>& slice) {
  for (size_t slot = 1; slot < slice.node->inputs.size(); ++slot)
    if (!is_constant_or_absent(editor, *slice.node, slot)) return std::nullopt;
  const SliceRange range = slice->range(operator_inputs(editor.graph(), *slice.node));
  const Shape& shape = editor.type(slice.input()).shape;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (range.steps[axis] != 1 || (axis != 1 && range.output[axis] != shape[axis])) return std::nullopt;
  return ChannelRange{slice.input(), range.starts[1], range.output[1], slice.index};
}

std::optional<ChannelRange> range_of(const GraphEditor& editor, ValueId value) {
  if (editor.type(value).shape.size() < 3) return std::nullopt;
  if (const auto split = match_producer<Split>(editor, value)) return range_of_split(editor, split, value);
  if (const auto slice = match_producer<Slice>(editor, value)) return range_of_slice(editor, slice);
  return std::nullopt;
}

// Returns nothing if the value has other readers: then the layer saves nothing.
std::optional<BankPart> part_of_bank(const GraphEditor& editor, ValueId value, size_t reader) {
  const auto match = match_producer<Conv>(editor, value);
  if (!match || editor.only_reader(value) != reader) return std::nullopt;
  const Node& node = *match.node;
  const auto range = range_of(editor, node.inputs[0]);
  if (!range || range->count == 0 || match->group != range->count || match->activation ||
      match->fixed_point || !match->channel_taps.empty() || node.inputs.size() > 3)
    return std::nullopt;
  const HostTensor* weights = editor.constant_input(match.index, 1);
  if (weights == nullptr || !is_float_value(editor, node.inputs[1]) ||
      !is_constant_or_absent(editor, node, 2))
    return std::nullopt;
  BankPart part{.index = match.index,
                .channels = *range,
                .conv = std::static_pointer_cast<const Conv>(node.op),
                .window = as_3d(match->place(operator_inputs(editor.graph(), node))),
                .shape = weights->shape(),
                .weights = weights->to_floats(),
                .bias = std::vector<float>(static_cast<size_t>(weights->shape()[0]), 0.0f)};
  if (node.inputs.size() == 3 && node.inputs[2] != kNoValue)
    part.bias = editor.constant_input(match.index, 2)->to_floats();
  return part;
}

// Returns the parts if together they are all channels of one tensor, in their order, with equally many
// results of each channel.
std::vector<BankPart> parts_of_bank(const GraphEditor& editor, const Match<Concat>& concat) {
  const Node& node = *concat.node;
  const size_t rank = editor.type(node.outputs[0]).shape.size();
  if (rank < 3 || node.inputs.size() < 2 || normalize_axis(concat->axis, rank) != 1) return {};
  std::vector<BankPart> parts;
  int64_t channels = 0;
  for (const ValueId input : node.inputs) {
    auto part = part_of_bank(editor, input, concat.index);
    if (!part || part->channels.begin != channels) return {};
    channels += part->channels.count;
    parts.push_back(std::move(*part));
    const BankPart &first = parts.front(), &last = parts.back();
    if (last.channels.tensor != first.channels.tensor ||
        last.shape[0] * first.channels.count != first.shape[0] * last.channels.count)
      return {};
  }
  if (editor.type(parts.front().channels.tensor).shape[1] != channels) return {};
  return parts;
}

// Copies a part's weights (M, 1, kernel) into the larger window that follows in `weights`.
void append_weights(const BankPart& part, const WindowPlacement& window, const std::array<int64_t, 3>& first,
                    std::vector<float>& weights) {
  const Shape &small = part.window.kernel, &large = window.kernel;
  const size_t begin = weights.size(), taps = static_cast<size_t>(element_count(large));
  weights.resize(begin + static_cast<size_t>(part.shape[0]) * taps, 0.0f);
  size_t i = 0;
  for (int64_t m = 0; m < part.shape[0]; ++m)
    for (int64_t z = 0; z < small[0]; ++z)
      for (int64_t y = 0; y < small[1]; ++y)
        for (int64_t x = 0; x < small[2]; ++x) {
          const int64_t tap = ((first[0] + z) * large[1] + first[1] + y) * large[2] + first[2] + x;
          weights[begin + static_cast<size_t>(m) * taps + static_cast<size_t>(tap)] = part.weights[i++];
        }
}

bool is_worth_merging(const std::vector<BankPart>& parts, const BankPart& largest) {
  int64_t apart = 0, merged = 0;
  for (const BankPart& part : parts) {
    apart += part.shape[0] * part.taps();
    merged += part.shape[0] * largest.taps();
  }
  return merged <= kMostWork * apart;
}

// Returns the taps of each part in the window of the largest one; none if they do not fit, or if no kernel
// multiplies a part of a window.
std::vector<ChannelTaps> taps_of_parts(const std::vector<BankPart>& parts, const BankPart& largest) {
  std::vector<ChannelTaps> taps;
  for (const BankPart& part : parts) {
    const auto first = window_within(part.window, largest.window);
    if (!first) return {};
    const Shape& kernel = part.window.kernel;
    taps.push_back({part.shape[0], *first, {kernel[0], kernel[1], kernel[2]}});
    const bool has_own_taps = part.taps() != largest.taps();
    if (has_own_taps && (part.shape[0] != part.channels.count || part.shape.size() > 4)) return {};
  }
  return taps;
}

void merge_bank(GraphEditor& editor, size_t index) {
  const auto concat = match_node<Concat>(editor, index);
  if (!concat) return;
  const std::vector<BankPart> parts = parts_of_bank(editor, concat);
  if (parts.empty()) return;
  const BankPart& largest = *std::ranges::max_element(parts, {}, &BankPart::taps);
  if (!is_worth_merging(parts, largest)) return;
  std::vector<ChannelTaps> taps = taps_of_parts(parts, largest);
  if (taps.empty()) return;
  std::vector<float> weights, bias;
  for (size_t i = 0; i < parts.size(); ++i) {
    append_weights(parts[i], largest.window, taps[i].first, weights);
    bias.insert(bias.end(), parts[i].bias.begin(), parts[i].bias.end());
  }
  const ValueId tensor = parts.front().channels.tensor;
  auto conv = std::make_shared<Conv>(*largest.conv);
  conv->group = editor.type(tensor).shape[1];
  const auto is_largest = [&](const BankPart& part) { return part.taps() == largest.taps(); };
  if (!std::ranges::all_of(parts, is_largest)) conv->channel_taps = std::move(taps);
  Shape shape = largest.shape;
  shape[0] = static_cast<int64_t>(bias.size());
  const DType dtype = editor.type(editor.node(index).outputs[0]).dtype;
  const std::string name = editor.node(largest.index).name;
  const ValueId w =
      editor.add_constant(name + "/bank_weights", HostTensor::from<float>(dtype, std::move(shape), weights));
  const ValueId b = editor.add_constant(
      name + "/bank_bias", HostTensor::from<float>(dtype, {static_cast<int64_t>(bias.size())}, bias));
  editor.replace(index, std::move(conv), {tensor, w, b});
  for (const BankPart& part : parts) editor.remove(part.index);
  for (const BankPart& part : parts) {
    const size_t picks = part.channels.node;
    const auto is_read = [&](ValueId output) { return output != kNoValue && editor.is_read(output); };
    if (!editor.removed(picks) && std::ranges::none_of(editor.node(picks).outputs, is_read))
      editor.remove(picks);
  }
}

}  // namespace

void merge_depthwise_banks(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) merge_bank(editor, index);
  editor.commit();
}

}  // namespace vellum

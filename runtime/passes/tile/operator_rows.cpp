#include "passes/tile/operator_rows.hpp"

#include <algorithm>
#include <optional>

#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/depth_to_space.hpp"
#include "graph/operators/movement/pad.hpp"
#include "graph/operators/movement/pick_channels.hpp"
#include "graph/operators/movement/resize.hpp"
#include "graph/operators/movement/slice.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "passes/tile/operator_access.hpp"
#include "passes/tile/operator_images.hpp"
#include "passes/tile/window_rows.hpp"

namespace vellum {
namespace {

constexpr size_t kRowsOfImages = 2, kRowsOfLastChannels = 1;

// The dimension of the rows, or columns, of N, C, H, W.
size_t dimension(ImageAxis axis) { return kRowsOfImages + static_cast<size_t>(axis); }

// The number of rows of a value in N, C, H, W.
int64_t image_rows(const Graph& graph, ValueId value, ImageAxis axis = ImageAxis::rows) {
  return graph.values[value].type.shape[dimension(axis)];
}

bool is_image(const Graph& graph, ValueId value) {
  const TensorType& type = graph.values[value].type;
  return is_float(type.dtype) && type.shape.size() == 4 && element_count(type.shape) > 0;
}

// --- Elementwise ---

// Whether an elementwise operator reads the whole of input i for each row.
bool broadcasts_rows(const Graph& graph, const Node& node, size_t i, ImageAxis axis) {
  if (as<BatchNormalization>(node)) return i > 0;
  const Shape& shape = shape_of(graph, node.inputs[i]);
  const size_t from_end = axis == ImageAxis::rows ? 2 : 1;
  return shape.size() < from_end || shape[shape.size() - from_end] == 1;
}

// Constants that vary along the rows would be other constants in each strip.
bool elementwise_has_rows(const Graph& graph, const Node& node, ImageAxis axis) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId input = node.inputs[i];
    if (input == kNoValue || broadcasts_rows(graph, node, i, axis)) continue;
    if (graph.constant(input) || !is_image(graph, input)) return false;
  }
  return true;
}

// --- What moves elements ---

bool slice_keeps_rows(const Graph& graph, const Node& node, ImageAxis axis) {
  const SliceRange range = as<Slice>(node)->range(operator_inputs(graph, node));
  const size_t at = dimension(axis);
  return range.steps[at] == 1 && range.starts[at] == 0 &&
         range.output[at] == image_rows(graph, node.inputs[0], axis);
}

std::optional<PadAmounts> row_pad(const Graph& graph, const Node& node, ImageAxis axis) {
  const auto* pad = as<Pad>(node);
  if (!pad || pad->mode == PadMode::wrap) return std::nullopt;
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i] != kNoValue && !graph.constant(node.inputs[i])) return std::nullopt;
  PadAmounts amounts = pad->amounts(operator_inputs(graph, node));
  const int64_t rows = image_rows(graph, node.inputs[0], axis);
  const bool repeats = amounts.begin[dimension(axis)] >= rows || amounts.end[dimension(axis)] >= rows;
  if (pad->mode == PadMode::reflect && repeats) return std::nullopt;
  return amounts;
}

int64_t padded_source(PadMode mode, int64_t row, int64_t count) {
  if (row >= 0 && row < count) return row;
  if (mode != PadMode::reflect || count == 1) return std::clamp<int64_t>(row, 0, count - 1);
  const int64_t period = 2 * (count - 1), at = (row % period + period) % period;
  return at < count ? at : period - at;
}

Rows pad_rows(const Graph& graph, const Node& node, const Rows& computed, ImageAxis axis) {
  const int64_t begin = row_pad(graph, node, axis)->begin[dimension(axis)];
  const int64_t count = image_rows(graph, node.inputs[0], axis);
  Rows rows;
  for (int64_t row = computed.begin; row < computed.end; ++row) {
    const int64_t at = row - begin, source = padded_source(as<Pad>(node)->mode, at, count);
    rows = hull(rows, {source, source + 1});
    // A strip reflects at its own ends.
    if (at < 0) rows = hull(rows, {0, 1});
    if (at >= count) rows = hull(rows, {count - 1, count});
  }
  return rows;
}

std::shared_ptr<const Operator> pad_for_rows(const Graph& graph, const Node& node, const Rows& computed,
                                             const Rows& held) {
  PadAmounts amounts = *row_pad(graph, node, ImageAxis::rows);
  int64_t &begin = amounts.begin[kRowsOfImages], &end = amounts.end[kRowsOfImages];
  begin = held.begin + begin - computed.begin;
  end = computed.count() - held.count() - begin;
  auto strip = std::make_shared<Pad>(*as<Pad>(node));
  strip->pads = amounts.begin;
  strip->pads->insert(strip->pads->end(), amounts.end.begin(), amounts.end.end());
  strip->value = strip->padding_value(operator_inputs(graph, node)).to_floats()[0];
  return strip;
}

// The permutation of a Transpose between N, C, H, W and N, H, W, C; nothing for any other node.
enum class ChannelMove : uint8_t { to_first, to_last };
std::optional<ChannelMove> channel_move(const Graph& graph, const Node& node) {
  const auto* transpose = as<Transpose>(node);
  if (!transpose || !is_image(graph, node.inputs[0])) return std::nullopt;
  const std::vector<size_t> order = transpose->permutation(4);
  if (order == std::vector<size_t>{0, 3, 1, 2}) return ChannelMove::to_first;
  if (order == std::vector<size_t>{0, 2, 3, 1}) return ChannelMove::to_last;
  return std::nullopt;
}

// --- Resampling ---

// Its geometry, where rows are resampled by themselves.
std::optional<ResizeGeometry> row_resize(const Graph& graph, const Node& node) {
  const auto* resize = as<Resize>(node);
  if (!resize || resize->strip) return std::nullopt;
  const ResizeGeometry geometry = resize->geometry(operator_inputs(graph, node));
  if (geometry.input[0] != geometry.output[0] || geometry.input[1] != geometry.output[1]) return std::nullopt;
  return geometry;
}

Rows resize_rows(const Graph& graph, const Node& node, const Rows& computed, ImageAxis axis) {
  const std::vector<Rows> of_row = rows_resized(graph, node, axis);
  Rows rows;
  for (int64_t row = computed.begin; row < computed.end; ++row)
    rows = hull(rows, of_row[static_cast<size_t>(row)]);
  return rows;
}

std::shared_ptr<const Operator> resize_for_rows(const Graph& graph, const Node& node, const Rows& computed,
                                                const Rows& held) {
  auto strip = std::make_shared<Resize>(*as<Resize>(node));
  strip->strip = ResizeStrip{image_rows(graph, node.inputs[0]), computed.begin, computed.count(), held.begin};
  return strip;
}

}  // namespace

// PRelu, Where and the like broadcast as Binary does.
bool is_elementwise(const Node& node) {
  if (const auto* binary = as<Binary>(node)) return binary->kind <= BinaryKind::max;
  if (const auto* cast = as<Cast>(node)) return cast->to && is_float(*cast->to) && !cast->narrow;
  return as<Unary>(node) || as<Clip>(node) || as<Variadic>(node) || as<PRelu>(node) || as<Shrink>(node) ||
         as<BatchNormalization>(node);
}

Rows hull(const Rows& a, const Rows& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

std::vector<size_t> rows_axes(const Graph& graph, ImageAxis axis) {
  if (axis == ImageAxis::images) return std::vector<size_t>(graph.values.size(), 0);
  const size_t of_last_channels = kRowsOfLastChannels + static_cast<size_t>(axis);
  std::vector<size_t> axes(graph.values.size(), dimension(axis));
  for (const Node& node : graph.nodes) {
    const std::optional<ChannelMove> move = channel_move(graph, node);
    if (move == ChannelMove::to_first) axes[node.inputs[0]] = of_last_channels;
    if (move == ChannelMove::to_last) axes[node.outputs[0]] = of_last_channels;
  }
  return axes;
}

bool has_rows(const Graph& graph, std::span<const size_t> axes, const Node& node, ImageAxis axis) {
  if (axis == ImageAxis::images) return has_images(graph, node);
  const size_t rows = dimension(axis),
               rows_of_last_channels = kRowsOfLastChannels + static_cast<size_t>(axis);
  for (const ValueId output : node.outputs)
    if (output != kNoValue && (!is_image(graph, output) || shape_of(graph, output)[axes[output]] < 2))
      return false;
  if (node.inputs.empty() || node.inputs[0] == kNoValue || !is_image(graph, node.inputs[0])) return false;
  if (graph.constant(node.inputs[0]) && !is_elementwise(node)) return false;
  if (const std::optional<ChannelMove> move = channel_move(graph, node)) {
    const bool to_first = move == ChannelMove::to_first;
    return axes[node.inputs[0]] == (to_first ? rows_of_last_channels : rows) &&
           axes[node.outputs[0]] == (to_first ? rows : rows_of_last_channels);
  }
  // All others compute N, C, H, W from N, C, H, W.
  for (const auto* list : {&node.inputs, &node.outputs})
    for (const ValueId value : *list)
      if (value != kNoValue && axes[value] != rows) return false;
  if (is_elementwise(node)) return elementwise_has_rows(graph, node, axis);
  if (as<DepthToSpace>(node) || as<SpaceToDepth>(node) || as<PickChannels>(node)) return true;
  if (as<Slice>(node)) return slice_keeps_rows(graph, node, axis);
  if (as<Pad>(node)) return row_pad(graph, node, axis).has_value();
  if (as<Resize>(node)) return row_resize(graph, node).has_value();
  if (const auto* split = as<Split>(node)) return axis_of(graph, node, split->axis) != rows;
  if (const auto* concat = as<Concat>(node))
    return axis_of(graph, node, concat->axis) != rows &&
           std::none_of(node.inputs.begin(), node.inputs.end(),
                        [&](ValueId input) { return graph.constant(input) || !is_image(graph, input); });
  return row_window(graph, node).has_value();
}

int64_t rows_computed_together(const Node& node, ImageAxis axis) {
  if (axis == ImageAxis::images) return 1;
  const auto* blocks = as<DepthToSpace>(node);
  return blocks ? blocks->block : 1;
}

std::vector<RowsRead> rows_read(const Graph& graph, const Node& node, const Rows& computed, ImageAxis axis) {
  if (axis == ImageAxis::images) return images_read(graph, node, computed);
  std::vector<RowsRead> reads(node.inputs.size());
  const auto all_rows = [&](auto is_whole) {
    for (size_t i = 0; i < reads.size(); ++i)
      if (node.inputs[i] != kNoValue && !is_whole(i)) reads[i] = {false, computed};
  };
  if (is_elementwise(node)) {
    all_rows([&](size_t i) { return broadcasts_rows(graph, node, i, axis); });
  } else if (as<Concat>(node) || as<PickChannels>(node)) {
    all_rows([](size_t) { return false; });
  } else if (as<Slice>(node) || as<Split>(node) || as<Transpose>(node)) {
    reads[0] = {false, computed};
  } else if (const auto* to_space = as<DepthToSpace>(node)) {
    reads[0] = {false,
                {computed.begin / to_space->block, (computed.end + to_space->block - 1) / to_space->block}};
  } else if (const auto* to_depth = as<SpaceToDepth>(node)) {
    reads[0] = {false, {computed.begin * to_depth->block, computed.end * to_depth->block}};
  } else if (as<Pad>(node)) {
    reads[0] = {false, pad_rows(graph, node, computed, axis)};
  } else if (as<Resize>(node)) {
    reads[0] = {false, resize_rows(graph, node, computed, axis), true};
  } else {
    reads[0] = window_rows_read(graph, node, computed, axis);
    if (as<Conv>(node) && node.inputs.size() > 3 && node.inputs[3] != kNoValue) reads[3] = {false, computed};
  }
  return reads;
}

std::vector<Rows> rows_resized(const Graph& graph, const Node& node, ImageAxis axis) {
  std::vector<Rows> of_row;
  for (const ResizeTaps& element : as<Resize>(node)->taps(*row_resize(graph, node), dimension(axis))) {
    Rows rows;
    for (const ResizeTap& tap : element.taps) rows = hull(rows, {tap.index, tap.index + 1});
    of_row.push_back(rows.empty() ? Rows{0, 1} : rows);
  }
  return of_row;
}

std::shared_ptr<const Operator> operator_for_rows(const Graph& graph, const Node& node, const Rows& computed,
                                                  std::span<const Rows> held, ImageAxis axis) {
  if (axis == ImageAxis::images) return operator_for_images(graph, node, computed.count());
  if (as<Pad>(node)) return pad_for_rows(graph, node, computed, held[0]);
  if (as<Resize>(node)) return resize_for_rows(graph, node, computed, held[0]);
  if (row_window(graph, node)) return window_for_rows(graph, node, computed, held[0]);
  return node.op;
}

}  // namespace vellum

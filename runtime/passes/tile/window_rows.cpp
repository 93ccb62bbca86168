#include "passes/tile/window_rows.hpp"

#include <algorithm>

namespace vellum {
namespace {

constexpr size_t kRow = 0;  // of the spatial axes

// How far one window reaches along an axis.
int64_t reach(const WindowPlacement& p, size_t axis) { return (p.kernel[axis] - 1) * p.dilations[axis] + 1; }

int64_t floor_divide(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
int64_t ceil_divide(int64_t a, int64_t b) { return -floor_divide(-a, b); }

// At least one row of [0, count): padding alone needs an input, too.
Rows clamped(int64_t begin, int64_t end, int64_t count) {
  begin = std::clamp<int64_t>(begin, 0, count - 1);
  return {begin, std::clamp<int64_t>(end, begin + 1, count)};
}

// These windows with explicit padding, from `begin` rows of padding on. Rows of the input beyond
// the last window are negative padding at the end.
Window explicit_window(const WindowPlacement& p, const Rows& computed, const Rows& held, int64_t begin) {
  Window window;
  window.kernel = p.kernel;
  window.strides = p.strides;
  window.dilations = p.dilations;
  std::vector<int64_t> ends;
  for (size_t axis = 0; axis < p.kernel.size(); ++axis) {
    const bool rows = axis == kRow;
    const int64_t last = ((rows ? computed.count() : p.output[axis]) - 1) * p.strides[axis] +
                         (p.kernel[axis] - 1) * p.dilations[axis] + 1;
    window.pads.push_back(rows ? begin : p.pads_begin[axis]);
    ends.push_back(last - window.pads.back() - (rows ? held.count() : p.input[axis]));
  }
  window.pads.insert(window.pads.end(), ends.begin(), ends.end());
  return window;
}

// Transposed: an output row o has the sums of input rows i with o + padding = i * stride + tap * dilation.
Rows transposed_rows(const WindowPlacement& p, const Rows& computed, size_t axis) {
  const int64_t padding = p.pads_begin[axis], stride = p.strides[axis];
  return clamped(ceil_divide(computed.begin + padding - reach(p, axis) + 1, stride),
                 floor_divide(computed.end - 1 + padding, stride) + 1, p.input[axis]);
}

std::shared_ptr<const Operator> transposed_for_rows(const ConvTranspose& conv, const WindowPlacement& p,
                                                    const Rows& computed, const Rows& held) {
  auto strip = std::make_shared<ConvTranspose>(conv);
  strip->output_padding.clear();
  strip->output_shape.clear();
  strip->window = {};
  strip->window.kernel = p.kernel;
  strip->window.strides = p.strides;
  strip->window.dilations = p.dilations;
  std::vector<int64_t> ends;
  for (size_t axis = 0; axis < p.kernel.size(); ++axis) {
    const bool rows = axis == kRow;
    const int64_t first = rows ? computed.begin - held.begin * p.strides[axis] : 0;
    const int64_t full = ((rows ? held.count() : p.input[axis]) - 1) * p.strides[axis] +
                         (p.kernel[axis] - 1) * p.dilations[axis] + 1;
    strip->window.pads.push_back(p.pads_begin[axis] + first);
    ends.push_back(full - strip->window.pads.back() - (rows ? computed.count() : p.output[axis]));
  }
  strip->window.pads.insert(strip->window.pads.end(), ends.begin(), ends.end());
  return strip;
}

bool is_2d(const WindowPlacement& p) { return p.input.size() == 2; }

// A 1x1 window is computed by other kernels than windows with padding.
bool is_plain_product(const WindowPlacement& p) {
  return element_count(p.kernel) == 1 && element_count(p.strides) == 1 && p.input == p.output &&
         p.pads_begin == std::vector<int64_t>(p.pads_begin.size(), 0);
}

}  // namespace

std::optional<WindowPlacement> row_window(const Graph& graph, const Node& node) {
  const std::vector<OperatorInput> inputs = operator_inputs(graph, node);
  std::optional<WindowPlacement> placement;
  if (const auto* conv = dynamic_cast<const Conv*>(node.op.get())) {
    placement = conv->place(inputs);
  } else if (const auto* transposed = dynamic_cast<const ConvTranspose*>(node.op.get())) {
    placement = transposed->place(inputs);
  } else if (const auto* pool = dynamic_cast<const Pool*>(node.op.get())) {
    // The index of a maximum counts from the first row of all; a mean that counts padding ends with it.
    if (pool->with_indices || (pool->count_include_pad && pool->window.ceil_mode)) return std::nullopt;
    placement = pool->place(inputs);
  }
  if (!placement || !is_2d(*placement)) return std::nullopt;
  // Strips of a padded product are products without padding, which other kernels compute.
  const bool is_product = element_count(placement->kernel) == 1 && !is_plain_product(*placement);
  return is_product && element_count(placement->strides) == 1 ? std::nullopt : placement;
}

RowsRead window_rows_read(const Graph& graph, const Node& node, const Rows& computed, ImageAxis axis) {
  const WindowPlacement p = *row_window(graph, node);
  const auto at = static_cast<size_t>(axis);
  if (dynamic_cast<const ConvTranspose*>(node.op.get()) != nullptr)
    return {false, transposed_rows(p, computed, at), true};
  const int64_t first = computed.begin * p.strides[at] - p.pads_begin[at];
  const int64_t end = (computed.end - 1) * p.strides[at] - p.pads_begin[at] + reach(p, at);
  return {false, clamped(first, end, p.input[at]), !is_plain_product(p)};
}

std::shared_ptr<const Operator> window_for_rows(const Graph& graph, const Node& node, const Rows& computed,
                                                const Rows& held) {
  const WindowPlacement p = *row_window(graph, node);
  if (const auto* transposed = dynamic_cast<const ConvTranspose*>(node.op.get()))
    return transposed_for_rows(*transposed, p, computed, held);
  const int64_t begin = held.begin - (computed.begin * p.strides[kRow] - p.pads_begin[kRow]);
  if (const auto* conv = dynamic_cast<const Conv*>(node.op.get())) {
    auto strip = std::make_shared<Conv>(*conv);
    strip->window = explicit_window(p, computed, held, begin);
    return strip;
  }
  auto strip = std::make_shared<Pool>(dynamic_cast<const Pool&>(*node.op));
  strip->window = explicit_window(p, computed, held, begin);
  return strip;
}

}  // namespace vellum

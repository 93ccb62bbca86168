// Adaptive average pools whose windows differ in size, as torch decomposes them: a gather of all windows, as
// large as the largest, in which elements beyond a window become zero; a sum; a division by the windows'
// sizes.
//
//   x (H, W, N, C) -> GatherND -> Transpose (N, C, h, kh, w, kw) -> Where ... -> ReduceSum (N, C, h, w) ->
//   Div
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "graph/operators/reduction/adaptive_pool.hpp"
#include "graph/operators/reduction/reduce.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

constexpr int64_t kMostTaps = int64_t{1} << 22;  // of all windows of a plane

// The windows of a plane: (windows along H, rows of each, windows along W, columns of each).
struct GatheredWindows {
  ValueId x = kNoValue;  // (H, W, N, C)
  Shape shape;
  std::vector<int64_t> positions;  // (row, column) of each element
  std::vector<bool> counts;        // of each element: false where it becomes zero
};

// Returns the value between the masks: value = Where(mask, 0, input) with a mask that is the same in every
// plane.
std::optional<ValueId> masked_input(const GraphEditor& editor, ValueId value,
                                    std::vector<const HostTensor*>& masks) {
  const auto where = match_producer<Where>(editor, value);
  if (!where) return std::nullopt;
  const HostTensor *mask = editor.constant_input(where.index, 0),
                   *zero = editor.constant_input(where.index, 1);
  if (mask == nullptr || zero == nullptr || zero->elements() != 1 || zero->to_floats()[0] != 0.0f)
    return std::nullopt;
  if (editor.type(where.input(2)) != editor.type(value)) return std::nullopt;
  const Shape& shape = mask->shape();
  const auto planes = shape.begin() + std::max<std::ptrdiff_t>(std::ssize(shape) - 4, 0);
  if (std::any_of(shape.begin(), planes, [](int64_t size) { return size != 1; })) return std::nullopt;
  masks.push_back(mask);
  return where.input(2);
}

// Returns the last four dimensions of a shape.
Shape last_four(const Shape& shape) {
  return shape.size() <= 4 ? shape : Shape(shape.end() - 4, shape.end());
}

void apply_mask(GatheredWindows& windows, const HostTensor& mask) {
  const std::vector<int64_t> values = mask.to_ints();
  const std::vector<int64_t> strides = broadcast_strides(last_four(mask.shape()), windows.shape);
  size_t i = 0;
  for_each_offset<1>(windows.shape, {strides}, {0}, [&](const auto& at) {
    if (values[static_cast<size_t>(at[0])] != 0) windows.counts[i] = false;
    ++i;
  });
}

std::optional<GatheredWindows> match_windows(const GraphEditor& editor, ValueId value) {
  std::vector<const HostTensor*> masks;
  while (const auto input = masked_input(editor, value, masks)) value = *input;
  const auto transpose = match_producer<Transpose>(editor, value);
  if (!transpose || transpose->permutation(6) != std::vector<size_t>{4, 5, 0, 1, 2, 3}) return std::nullopt;
  const auto gather = match_producer<GatherND>(editor, transpose.input());
  const HostTensor* at = gather ? editor.constant_input(gather.index, 1) : nullptr;
  if (at == nullptr || gather->batch_dims != 0 || at->shape().size() != 5 || at->shape()[4] != 2 ||
      editor.type(gather.input()).shape.size() != 4 || at->elements() > kMostTaps)
    return std::nullopt;
  GatheredWindows windows{
      gather.input(), Shape(at->shape().begin(), at->shape().end() - 1), at->to_ints(), {}};
  windows.counts.assign(static_cast<size_t>(element_count(windows.shape)), true);
  for (const HostTensor* mask : masks) apply_mask(windows, *mask);
  return windows;
}

// Returns whether each element counts exactly if its row and its column do, and has their positions.
bool are_adaptive(const GatheredWindows& windows, const Shape& x) {
  const int64_t height = windows.shape[0], rows = windows.shape[1], width = windows.shape[2],
                columns = windows.shape[3];
  const auto number = [&](int64_t i, int64_t a, int64_t j, int64_t b) {
    return static_cast<size_t>(((i * rows + a) * width + j) * columns + b);
  };
  const auto position = [&](size_t element, size_t axis) {
    const int64_t at = windows.positions[2 * element + axis];
    return at < 0 ? at + x[axis] : at;
  };
  for (int64_t i = 0; i < height; ++i)
    for (int64_t a = 0; a < rows; ++a)
      for (int64_t j = 0; j < width; ++j)
        for (int64_t b = 0; b < columns; ++b) {
          const AdaptiveWindow row = adaptive_window(i, x[0], height),
                               column = adaptive_window(j, x[1], width);
          const size_t element = number(i, a, j, b);
          const bool inside = row.begin + a < row.end && column.begin + b < column.end;
          if (windows.counts[element] != inside) return false;
          if (inside && (position(element, 0) != row.begin + a || position(element, 1) != column.begin + b))
            return false;
        }
  return largest_adaptive_window(x[0], height) <= rows && largest_adaptive_window(x[1], width) <= columns;
}

// Returns whether the constant has the size of each window of a plane.
bool has_sizes(const HostTensor& sizes, const Shape& x, const Shape& y) {
  const Shape& shape = sizes.shape();
  for (size_t axis = 0; axis + 2 < shape.size(); ++axis)
    if (shape[axis] != 1) return false;
  const size_t first = shape.size() > 2 ? shape.size() - 2 : 0;
  const std::vector<int64_t> strides =
      broadcast_strides(Shape(shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end()), {y[2], y[3]});
  const std::vector<float> values = sizes.to_floats();
  for (int64_t i = 0; i < y[2]; ++i)
    for (int64_t j = 0; j < y[3]; ++j) {
      const AdaptiveWindow row = adaptive_window(i, x[0], y[2]), column = adaptive_window(j, x[1], y[3]);
      const int64_t size = (row.end - row.begin) * (column.end - column.begin);
      if (values[static_cast<size_t>(i * strides[0] + j * strides[1])] != static_cast<float>(size))
        return false;
    }
  return true;
}

void fuse_pool(GraphEditor& editor, size_t index) {
  const auto division = match_binary_constant(editor, index);
  if (!division || division->op->kind != BinaryKind::div || division->data_slot != 0) return;
  const ValueId sum = editor.node(index).inputs[0];
  const auto reduce = match_producer<Reduce>(editor, sum);
  if (!reduce || reduce->kind != ReduceKind::sum || reduce->keep_dims || reduce->fixed_mean) return;
  const Shape &y = editor.type(sum).shape, &gathered = editor.type(reduce.input()).shape;
  if (y.size() != 4 || gathered.size() != 6 ||
      reduce->reduced_axes(operator_inputs(editor.graph(), *reduce.node)) != std::vector<size_t>{3, 5})
    return;
  const auto windows = match_windows(editor, reduce.input());
  if (!windows) return;
  const Shape x = editor.type(windows->x).shape;
  if (element_count(x) == 0 || !are_adaptive(*windows, x) || !has_sizes(*division->constant, x, y)) return;
  auto to_pictures = std::make_shared<Transpose>();
  to_pictures->perm = Attributes::Ints{2, 3, 0, 1};
  auto pool = std::make_shared<AdaptiveAveragePool>();
  pool->height = y[2];
  pool->width = y[3];
  const std::string name = editor.node(index).name;
  const ValueId pictures =
      editor.compute_before(index, name + "/pictures", std::move(to_pictures), {windows->x},
                            {editor.type(sum).dtype, {x[2], x[3], x[0], x[1]}});
  editor.replace(index, std::move(pool), {pictures});
}

}  // namespace

void fuse_adaptive_pool(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) fuse_pool(editor, index);
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum

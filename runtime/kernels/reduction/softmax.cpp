// Softmax and LogSoftmax.
#include "graph/operators/reduction/softmax.hpp"

#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/framework/shared_loop.hpp"
#include "program/divide.hpp"
#include "shaders/reduction/softmax.h"
#include "shaders/reduction/softmax_linear.h"
#include "shaders/reduction/softmax_parts.h"
#include "shaders/reduction/softmax_rows.h"
#include "shaders/reduction/softmax_statistics.h"

namespace vellum {

namespace {

// Returns the axis of the rows. Returns nothing if rows extend over several axes that are flattened to one.
std::optional<size_t> single_axis(const Softmax& op, const Shape& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  if (rank == 0 || op.axis >= rank) return std::nullopt;
  const size_t axis = normalize_axis(op.axis, shape.size());
  if (op.flatten && product(shape, axis + 1, shape.size()) != 1) return std::nullopt;
  return axis;
}

// Returns the loops of softmax.comp.
SharedLoop loop_along(const Shape& shape, size_t axis) {
  const bool channels = channels4_slot(shape.size(), axis) == 1;
  Shape rows = shape;
  rows[axis] = 1;
  const auto [n, c, h, w] = nchw(rows);
  return {.results = n * slices(c) * h * w,
          .length = channels ? slices(shape[axis]) : shape[axis],
          .iterations = 3};
}

void softmax_texels(Lowering& lowering, const Softmax& op, size_t axis) {
  const Shape& shape = lowering.output_type().shape;
  const size_t slot = channels4_slot(shape.size(), axis);
  const bool channels = slot == 1;
  Shape rows = shape;
  rows[axis] = 1;
  const SharedLoop loop = loop_along(shape, axis);
  const LoopBy by = choose_loop(lowering, loop);
  const TensorId x = lowering.read(0, Layout::channels4), y = lowering.write(0, Layout::channels4);
  std::array<int64_t, 4> direction{0, 0, 0, 0};  // N, slice, H, W
  direction[slot] = 1;
  Dispatch dispatch =
      loop_dispatch(lowering.caps(), "softmax", loop, by, {reads("x", x), writes("y", y)},
                    SoftmaxParameters{.y_shape = texel_shape(shape),
                                      .rows = texel_shape(rows),
                                      .direction = {direction[3], direction[2], direction[1], direction[0]},
                                      .length = loop.length});
  if (channels) define(dispatch, "CHANNELS");
  if (op.kind == SoftmaxKind::log_softmax) define(dispatch, "LOG");
  lowering.dispatch(std::move(dispatch));
}

bool has_columns(const Softmax::Extent& extent) { return extent.inner > 1; }

// Returns whether rows are no whole texels, neither side by side nor one after another.
bool has_scalars(const Softmax::Extent& extent) {
  return (has_columns(extent) ? extent.inner : extent.length) % 4 != 0;
}

// Returns whether one dispatch can compute the rows. Halves cannot be stored one by one.
bool in_rows(const Softmax::Extent& extent, ElementType element) {
  return !has_scalars(extent) || element == ElementType::f32;
}

// Returns the loops of softmax_rows.comp.
SharedLoop loop_in_rows(const Softmax::Extent& extent) {
  const bool scalars = has_scalars(extent);
  if (has_columns(extent))
    return {.results = extent.outer * (scalars ? extent.inner : extent.inner / 4),
            .length = extent.length,
            .iterations = 3};
  return {.results = extent.outer,
          .length = extent.length / 4,
          .along = true,
          .iterations = scalars ? 3 + loop_iterations(4) : 3};
}

void softmax_rows(Lowering& lowering, const Softmax& op, const Softmax::Extent& extent, TensorId y) {
  const bool columns = has_columns(extent), scalars = has_scalars(extent);
  const SharedLoop loop = loop_in_rows(extent);
  const LoopBy by = choose_loop(lowering, loop);
  const TensorId x = lowering.read(0, Layout::linear);
  Dispatch dispatch = loop_dispatch(
      lowering.caps(), "softmax_rows", loop, by,
      {scalars ? reads("x", x) : reads_in_place("x", x), writes("y", y)},
      SoftmaxRowsParameters{.count = loop.results, .length = extent.length, .inner = extent.inner});
  if (columns) define(dispatch, "COLUMNS");
  if (scalars) define(dispatch, "SCALARS");
  if (op.kind == SoftmaxKind::log_softmax) define(dispatch, "LOG");
  lowering.dispatch(std::move(dispatch));
}

SharedLoop loop_of_rows(const Softmax::Extent& extent) {
  return {.results = extent.outer * extent.inner, .length = extent.length, .iterations = 2};
}

// Returns the maximum and sum of each row. If rows are split into segments, the segments' come first.
TensorId softmax_statistics(Lowering& lowering, const Softmax::Extent& extent) {
  const SharedLoop whole = loop_of_rows(extent);
  const Segments segments = split_loop(lowering.caps(), whole);
  const SharedLoop loop = loop_of_segments(whole, segments);
  const SharedLoop loop_of_parts{.results = whole.results, .length = segments.count, .iterations = 2};
  const bool splits = segments.are_many();
  const LoopBy by = choose_loop(lowering, loop);
  const LoopBy by_of_parts = splits ? choose_loop(lowering, loop_of_parts) : LoopBy::invocation;
  const TensorId x = lowering.read(0, Layout::linear);
  const auto add_tensor = [&](const char* name, int64_t rows) {
    return lowering.workspace(lowering.node().name + name,
                              {{rows, 4}, ElementType::f32, Storage::buffer, Layout::linear});
  };
  const TensorId statistics = add_tensor("/statistics", whole.results);
  const TensorId first = splits ? add_tensor("/parts", loop.results) : statistics;
  Dispatch dispatch = loop_dispatch(
      lowering.caps(), "softmax_statistics", loop, by, {reads("x", x), writes("statistics", first)},
      SoftmaxStatisticsParameters{
          .rows = whole.results, .length = extent.length, .inner = extent.inner, .segment = segments.length});
  if (splits) define(dispatch, "SEGMENTED");
  lowering.dispatch(std::move(dispatch));
  if (splits)
    lowering.dispatch(
        loop_dispatch(lowering.caps(), "softmax_parts", loop_of_parts, by_of_parts,
                      {reads("parts", first), writes("statistics", statistics)},
                      SoftmaxPartsParameters{.rows = whole.results, .segments = segments.count}));
  return statistics;
}

void softmax_linear(Lowering& lowering, const Softmax& op) {
  const Shape& shape = lowering.output_type().shape;
  const Softmax::Extent extent = op.extent(shape);
  const TensorId y = lowering.write(0, Layout::linear);
  if (in_rows(extent, lowering.tensor(y).desc.element) &&
      !split_loop(lowering.caps(), loop_in_rows(extent)).are_many())
    return softmax_rows(lowering, op, extent, y);
  const TensorId statistics = softmax_statistics(lowering, extent);
  const TensorId x = lowering.read(0, Layout::linear);
  Dispatch dispatch = make_dispatch(
      "softmax_linear", grid_1d(lowering.caps(), groups_of_four(shape)),
      {reads("x", x), reads("statistics", statistics), writes("y", y)},
      SoftmaxLinearParameters{.count = element_count(shape), .length = extent.length, .inner = extent.inner});
  if (op.kind == SoftmaxKind::log_softmax) define(dispatch, "LOG");
  lowering.dispatch(std::move(dispatch));
}

}  // namespace

void lower_softmax(Lowering& lowering) {
  const Softmax& op = lowering.op<Softmax>();
  if (op.kind == SoftmaxKind::hardmax) return lowering.run_on_host("Hardmax has no kernel");
  const auto axis = single_axis(op, lowering.output_type().shape);
  if (axis && is_in_channels4(lowering, 0) &&
      !split_loop(lowering.caps(), loop_along(lowering.output_type().shape, *axis)).are_many())
    return softmax_texels(lowering, op, *axis);
  softmax_linear(lowering, op);
}

}  // namespace vellum

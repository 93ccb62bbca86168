// Gather, GatherElements, GatherND, Compress, Expand and Tile.
#include "graph/operators/movement/gather.hpp"

#include "graph/operators/movement/select_values.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/indexed.hpp"

namespace vellum {

namespace {

// The host refuses an index out of range. The kernel only avoids an access out of bounds.
void check_constant_indices(const Lowering& lowering, const std::vector<int64_t>& sizes) {
  const HostTensor* indices = lowering.constant(1);
  if (!indices) return;
  size_t i = 0;
  for (const int64_t index : indices->to_ints()) checked_index(index, sizes[i++ % sizes.size()]);
}

// Gathers `count` slices along `axis`.
IndexedLoops loops_over_slices(const Shape& shape, size_t axis, int64_t count) {
  const int64_t inner = product(shape, axis + 1, shape.size());
  return {{{product(shape, 0, axis), count, inner}, {{shape[axis] * inner, 0, 1}, {0, 1, 0}}},
          {shape[axis]},
          {inner}};
}

// Returns the common difference of constant indices that are an arithmetic sequence; nothing for other
// indices.
std::optional<int64_t> even_distance(const std::vector<int64_t>& indices) {
  if (indices.empty()) return std::nullopt;
  const int64_t distance = indices.size() > 1 ? indices[1] - indices[0] : 0;
  for (size_t i = 1; i < indices.size(); ++i)
    if (indices[i] - indices[i - 1] != distance) return std::nullopt;
  return distance;
}

// Copies equidistant slices, which needs no indices. It is a view if the slices are contiguous.
bool gather_evenly(Lowering& lowering, size_t axis) {
  const HostTensor* constant = lowering.constant(1);
  if (constant == nullptr) return false;
  const Shape& shape = lowering.input_type(0).shape;
  std::vector<int64_t> indices = constant->to_ints();
  for (int64_t& index : indices) index = checked_index(index, shape[axis]);
  const auto distance = even_distance(indices);
  if (!distance) return false;
  const int64_t inner = product(shape, axis + 1, shape.size());
  return strided_copy(
      lowering, 0,
      {{product(shape, 0, axis), std::ssize(indices), inner}, {{shape[axis] * inner, *distance * inner, 1}}},
      indices[0] * inner);
}

void gather_from_inputs(Lowering& lowering, const IndexedLoops& loops) {
  if (!fits_indexed(loops)) return lowering.run_on_host_for_rank();
  check_constant_indices(lowering, loops.sizes);
  const TensorId x = lowering.read(0, Layout::linear), indices = lowering.read(1, Layout::linear);
  gather(lowering, x, indices, lowering.write(0, Layout::linear), loops);
}

}  // namespace

void lower_gather(Lowering& lowering) {
  const Shape& shape = lowering.input_type(0).shape;
  const size_t axis = normalize_axis(lowering.op<Gather>().axis, shape.size());
  if (gather_evenly(lowering, axis)) return;
  gather_from_inputs(lowering, loops_over_slices(shape, axis, element_count(lowering.input_type(1).shape)));
}

void lower_gather_elements(Lowering& lowering) {
  const Shape& shape = lowering.input_type(0).shape;
  const size_t axis = normalize_axis(lowering.op<GatherElements>().axis, shape.size());
  gather_from_inputs(lowering, loops_along(shape, lowering.input_type(1).shape, axis));
}

void lower_gather_nd(Lowering& lowering) {
  const Shape &shape = lowering.input_type(0).shape, &indices = lowering.input_type(1).shape;
  const auto batch = static_cast<size_t>(lowering.op<GatherND>().batch_dims);
  const int64_t depth = indices.back(), batches = product(shape, 0, batch);
  const int64_t tuples = element_count(indices) / depth / batches;
  const size_t end = batch + static_cast<size_t>(depth);
  const int64_t slice = product(shape, end, shape.size());
  const std::vector<int64_t> strides = row_major_strides(shape);
  IndexedLoops loops{
      {{batches, tuples, slice}, {{product(shape, batch, shape.size()), 0, 1}, {tuples * depth, depth, 0}}},
      {},
      {}};
  for (size_t axis = batch; axis < end; ++axis) {
    loops.sizes.push_back(shape[axis]);
    loops.steps.push_back(strides[axis]);
  }
  gather_from_inputs(lowering, loops);
}

void lower_compress(Lowering& lowering) {
  // The condition is constant, because it decides the shape.
  std::vector<int64_t> chosen;
  const std::vector<int64_t> condition = lowering.constant(1)->to_ints();
  for (size_t i = 0; i < condition.size(); ++i)
    if (condition[i] != 0) chosen.push_back(static_cast<int64_t>(i));
  const auto count = static_cast<int64_t>(chosen.size());
  const auto& given = lowering.op<Compress>().axis;
  const Shape shape =
      given ? lowering.input_type(0).shape : Shape{element_count(lowering.input_type(0).shape)};
  const size_t axis = given ? normalize_axis(*given, shape.size()) : 0;
  const TensorId x = lowering.read(0, Layout::linear);
  const TensorId indices =
      lowering.integer_weight(lowering.node().name + "/indices", {count}, std::move(chosen));
  gather(lowering, x, indices, lowering.write(0, Layout::linear), loops_over_slices(shape, axis, count));
}

void lower_expand(Lowering& lowering) {
  const auto strides = broadcast_strides(lowering.input_type(0).shape, lowering.output_type().shape);
  if (!strided_copy(lowering, 0, strides, 0)) lowering.run_on_host_for_rank();
}

void lower_tile(Lowering& lowering) {
  const Shape &shape = lowering.input_type(0).shape, &result = lowering.output_type().shape;
  const std::vector<int64_t> strides = row_major_strides(shape);
  LoopNest nest{{}, {{}}};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    nest.dims.push_back(result[axis] / shape[axis]);
    nest.strides[0].push_back(0);
    nest.dims.push_back(shape[axis]);
    nest.strides[0].push_back(strides[axis]);
  }
  if (!strided_copy(lowering, 0, nest, 0)) lowering.run_on_host_for_rank();
}

}  // namespace vellum

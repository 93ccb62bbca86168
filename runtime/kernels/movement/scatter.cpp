// ScatterElements, Scatter, ScatterND, TensorScatter and MaxUnpool.
#include "graph/operators/movement/scatter.hpp"

#include "graph/element.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/max_unpool.hpp"
#include "graph/operators/movement/tensor_scatter.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/indexed.hpp"

namespace vellum {

namespace {

const char* name_of(ScatterReduction reduction) {
  switch (reduction) {
    case ScatterReduction::none:
      return "none";
    case ScatterReduction::add:
      return "add";
    case ScatterReduction::mul:
      return "mul";
    case ScatterReduction::max:
      return "max";
    case ScatterReduction::min:
      return "min";
  }
  return "none";
}

// Returns whether the kernel can reduce these elements. Integers of less than 32 bits would have to wrap
// around after each sum.
bool combines_exactly(DType dtype, ScatterReduction reduction) {
  return reduction == ScatterReduction::none || is_float(dtype) || dtype == DType::i32 || dtype == DType::i64;
}

// of_updates: the input with the updates, 1 or 2; the other one has the indices.
void scatter_into_data(Lowering& lowering, const IndexedLoops& loops, ScatterReduction reduction,
                       size_t of_updates = 2) {
  const size_t of_indices = 3 - of_updates;
  if (element_count(lowering.input_type(of_updates).shape) == 0) return lowering.alias(0, 0);
  const std::string type(lowering.node().op->type());
  if (!fits_indexed(loops)) return lowering.run_on_host_for_rank();
  if (!combines_exactly(lowering.output_type().dtype, reduction))
    return lowering.run_on_host(type + " with a reduction of these integers has no kernel");
  if (const HostTensor* indices = lowering.constant(of_indices)) {
    size_t i = 0;
    for (const int64_t index : indices->to_ints())
      checked_index(index, loops.sizes[i++ % loops.sizes.size()]);
  }
  const Shape& shape = lowering.output_type().shape;
  const TensorId data = lowering.read(0, Layout::linear), indices = lowering.read(of_indices, Layout::linear),
                 updates = lowering.read(of_updates, Layout::linear);
  TensorId y = lowering.update_state(0, 0);
  if (y == kNoTensor) {
    y = lowering.write(0, Layout::linear);
    strided_copy(lowering, data, y, {shape, {row_major_strides(shape)}}, 0);
  }
  scatter(lowering, indices, updates, y, loops, name_of(reduction), false);
}

}  // namespace

void lower_scatter_elements(Lowering& lowering) {
  const ScatterElements& op = lowering.op<ScatterElements>();
  const Shape& shape = lowering.output_type().shape;
  const size_t axis = normalize_axis(op.axis, shape.size());
  scatter_into_data(lowering, loops_along(shape, lowering.input_type(1).shape, axis), op.reduction);
}

void lower_scatter_nd(Lowering& lowering) {
  const Shape &shape = lowering.output_type().shape, &indices = lowering.input_type(1).shape;
  const int64_t depth = indices.back();
  const int64_t slice = product(shape, static_cast<size_t>(depth), shape.size());
  const std::vector<int64_t> strides = row_major_strides(shape);
  IndexedLoops loops{{{element_count(indices) / depth, slice}, {{0, 1}, {depth, 0}}}, {}, {}};
  for (size_t axis = 0; axis < static_cast<size_t>(depth); ++axis) {
    loops.sizes.push_back(shape[axis]);
    loops.steps.push_back(strides[axis]);
  }
  scatter_into_data(lowering, loops, lowering.op<ScatterND>().reduction);
}

// A position is out of range if the update would extend beyond the cache; then the update is not written.
void lower_tensor_scatter(Lowering& lowering) {
  const Shape& cache = lowering.input_type(0).shape;
  const TensorScatter::Extents e = lowering.op<TensorScatter>().extents(cache, lowering.input_type(1).shape);
  const int64_t row = e.capacity * e.inner;
  const IndexedLoops loops{{{e.batch, e.outer, e.tokens * e.inner}, {{e.outer * row, row, 1}, {1, 0, 0}}},
                           {e.capacity - e.tokens + 1},
                           {e.inner}};
  scatter_into_data(lowering, loops, ScatterReduction::none, 1);
}

void lower_max_unpool(Lowering& lowering) {
  const Shape& shape = lowering.output_type().shape;
  const Shape natural = lowering.op<MaxUnpool>().natural_shape(operator_inputs(lowering));
  const int64_t count = element_count(lowering.input_type(0).shape);
  const IndexedLoops loops{{{count}, {{0}, {1}}}, natural, row_major_strides(shape)};
  if (!fits_indexed(loops)) return lowering.run_on_host_for_rank();
  const TensorId x = lowering.read(0, Layout::linear), indices = lowering.read(1, Layout::linear),
                 y = lowering.write(0, Layout::linear);
  TensorDesc one{{1}, ElementType::f32, Storage::buffer, Layout::linear};
  const TensorId zero =
      is_float(lowering.output_type().dtype)
          ? lowering.weight(lowering.node().name + "/zero", one, [] { return std::vector<float>(1); })
          : lowering.integer_weight(lowering.node().name + "/zero", {1}, {0});
  strided_copy(lowering, zero, y, {shape, {std::vector<int64_t>(shape.size(), 0)}}, 0);
  scatter(lowering, indices, x, y, loops, "none", true);
}

}  // namespace vellum

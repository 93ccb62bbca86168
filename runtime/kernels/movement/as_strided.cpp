// Lowers AsStrided.
#include "graph/operators/movement/as_strided.hpp"

#include <algorithm>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/fused/fused_nodes.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/strided.hpp"
#include "kernels/movement/strided_reads.hpp"
#include "shaders/movement/strided_texels.h"

namespace vellum {

namespace {

// The most loops for a linear result of strided_texels.comp.
constexpr size_t kMostTexelLoops = decltype(StridedTexelsParameters::dims)::size();

template <typename... Ops>
bool is_one_of(const Operator& op) {
  return ((dynamic_cast<const Ops*>(&op) != nullptr) || ...);
}

template <typename... Ops>
bool is_read_by_only(const Lowering& lowering) {
  const ValueId y = lowering.node().outputs[0];
  return !lowering.is_final(0) && std::ranges::all_of(lowering.graph().nodes, [&](const Node& node) {
    const FusedNodes* const norm = as_fused(node, FusedKernelId::norm);
    const Operator& reader = norm ? *norm->body.nodes.front().op : *node.op;  // the product
    return std::ranges::find(node.inputs, y) == node.inputs.end() || is_one_of<Ops...>(reader);
  });
}

// Returns whether the readers of the result compute rows of matrices, which they do in channels4.
bool is_for_rows(const Lowering& lowering) {
  return is_read_by_only<Gemm, LayerNormalization, Concat, Unary, Binary>(lowering);
}

// Returns the layout of the result. Pictures, and sequences for convolutions, whose channels are closest to
// each other in the source come from tokens or from channels last, and operators on channels follow. Other
// results are rows of heads.
Layout layout_of_result(const Lowering& lowering, const StridedView& view) {
  const size_t rank = view.shape.size();
  if (!all_float(lowering)) return Layout::linear;
  if (rank == 2) return is_for_rows(lowering) ? Layout::channels4 : Layout::linear;
  if (rank < 3 || rank > 4 || view.shape[1] == 1) return Layout::linear;
  const bool channels_last = view.strides[1] == 1 && (view.strides.back() != 1 || view.shape.back() == 1);
  const bool is_for_channels = rank == 4 || is_read_by_only<Conv>(lowering);
  return channels_last && is_for_channels ? Layout::channels4 : Layout::linear;
}

// The strides along (w, h, c, n) of a tensor in channels4.
ivec4 texel_strides(const StridedView& view) {
  std::array<int64_t, 4> strides{0, 0, 0, 0};
  const size_t rank = view.shape.size();
  for (size_t axis = 0; axis < rank; ++axis)
    if (view.shape[axis] > 1) strides[3 - channels4_slot(rank, axis)] = view.strides[axis];
  return {strides[0], strides[1], strides[2], strides[3]};
}

// Returns the view with contiguous dimensions merged.
StridedView collapsed_view(const StridedView& view) {
  LoopNest nest = collapse({view.shape, {view.strides}});
  return {view.offset, nest.dims, nest.strides[0]};
}

// `view`: collapsed if the result is linear.
void copy_texels(Lowering& lowering, const StridedView& view, Layout from, Layout to) {
  const Shape &x_shape = lowering.input_type(0).shape, &y_shape = lowering.output_type().shape;
  const bool x_linear = from == Layout::linear, y_linear = to == Layout::linear;
  const auto [n, c, h, w] = x_linear ? std::array<int64_t, 4>{1, 4, 1, 1} : nchw(x_shape);
  const ivec4 none{0, 0, 0, 0};
  const ivec4 texel = y_linear ? none : texel_strides(view);
  const bool rows = !x_linear && h * w == 1;
  const bool quads = reads_quads(view, y_linear ? view.shape.size() - 1 : 1, h * w, c);
  const TensorId x = lowering.read(0, from), y = lowering.write(0, to);
  Dispatch dispatch = make_dispatch(
      "strided_texels",
      y_linear ? grid_1d(lowering.caps(), groups_of_four(y_shape)) : grid_of_texels(lowering.caps(), y_shape),
      {reads("x", x), writes("y", y)},
      StridedTexelsParameters{.x_shape = x_linear ? none : texel_shape(x_shape),
                              .y_shape = y_linear ? none : texel_shape(y_shape),
                              .y_strides = texel,
                              .count = element_count(y_shape),
                              .rank = view.shape.size(),
                              .base = view.offset,
                              .dims = y_linear ? view.shape : Shape{},
                              .strides = y_linear ? view.strides : std::vector<int64_t>{}});
  if (x_linear) define(dispatch, "X_LINEAR");
  if (y_linear) define(dispatch, "Y_LINEAR");
  if (rows) define(dispatch, "X_ROWS");
  if (quads) define(dispatch, "QUADS");
  if (y_linear && !quads && has_long_rows(view.shape)) define(dispatch, "LONG_ROWS");
  lowering.dispatch(std::move(dispatch));
}

}  // namespace

void lower_as_strided(Lowering& lowering) {
  const StridedView& view = lowering.op<AsStrided>().view;
  const Layout from = layout_of_view(lowering, 0);
  const Layout to = layout_of_result(lowering, view);
  if (to == Layout::channels4) return copy_texels(lowering, view, from, to);
  const StridedView loops = collapsed_view(view);
  if (from == Layout::channels4 && loops.shape.size() <= kMostTexelLoops)
    return copy_texels(lowering, loops, from, to);
  if (!strided_copy(lowering, 0, view.strides, view.offset)) lowering.run_on_host_for_rank();
}

}  // namespace vellum

// DepthToSpace and SpaceToDepth.
#include "graph/operators/movement/depth_to_space.hpp"

#include "kernels/framework/elements.hpp"
#include "shaders/movement/depth_to_space.h"

namespace vellum {

namespace {

Dispatch move_blocks(Lowering& lowering, int64_t block, bool column_first) {
  const Shape& shape = lowering.output_type().shape;
  const TensorId x = lowering.read(0, Layout::channels4), y = lowering.write(0, Layout::channels4);
  return make_dispatch("depth_to_space", grid_of_texels(lowering.caps(), shape),
                       {reads("x", x), writes("y", y)},
                       DepthToSpaceParameters{.x_shape = texel_shape(lowering.input_type(0).shape),
                                              .y_shape = texel_shape(shape),
                                              .block = block,
                                              .columns_first = column_first});
}

}  // namespace

void lower_depth_to_space(Lowering& lowering) {
  const DepthToSpace& op = lowering.op<DepthToSpace>();
  if (!all_float(lowering)) return lowering.run_on_host("DepthToSpace of integers has no kernel");
  lowering.dispatch(move_blocks(lowering, op.block, op.column_first));
}

void lower_space_to_depth(Lowering& lowering) {
  const SpaceToDepth& op = lowering.op<SpaceToDepth>();
  if (!all_float(lowering)) return lowering.run_on_host("SpaceToDepth of integers has no kernel");
  Dispatch dispatch = move_blocks(lowering, op.block, op.column_first);
  define(dispatch, "SPACE_TO_DEPTH");
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

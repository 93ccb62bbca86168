#include "import/tflite/stored_grid.hpp"

#include "graph/narrow_types.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/depth_to_space.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/pad.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/resize.hpp"
#include "graph/operators/movement/select_values.hpp"
#include "graph/operators/movement/slice.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "graph/operators/reduction/pool.hpp"

namespace vellum::tflite {

StoredGrid stored_grid(DType stored, float scale, int64_t zero_point) {
  const IntegerRange integers = integer_range(stored, 8);
  return {scale, static_cast<float>(integers.low - zero_point),
          static_cast<float>(integers.high - zero_point)};
}

Activation rounding(const StoredGrid& grid) {
  return {.step = grid.scale, .least = grid.least, .most = grid.most};
}

bool moves_elements(const Node& node) {
  const Operator& op = *node.op;
  if (const auto* resize = dynamic_cast<const Resize*>(&op))
    return resize->mode == ResizeMode::nearest && resize->coordinates != CoordinateMode::tf_crop_and_resize;
  if (const auto* pool = dynamic_cast<const Pool*>(&op))
    return pool->kind == PoolKind::max && !pool->with_indices;
  if (const auto* pad = dynamic_cast<const Pad*>(&op))
    return pad->mode != PadMode::constant || (pad->value == 0.0f && node.inputs.size() < 3);
  return dynamic_cast<const ReshapeFamily*>(&op) != nullptr ||
         dynamic_cast<const Transpose*>(&op) != nullptr || dynamic_cast<const Slice*>(&op) != nullptr ||
         dynamic_cast<const Split*>(&op) != nullptr || dynamic_cast<const Gather*>(&op) != nullptr ||
         dynamic_cast<const Tile*>(&op) != nullptr || dynamic_cast<const Expand*>(&op) != nullptr ||
         dynamic_cast<const DepthToSpace*>(&op) != nullptr ||
         dynamic_cast<const SpaceToDepth*>(&op) != nullptr || dynamic_cast<const Concat*>(&op) != nullptr;
}

}  // namespace vellum::tflite

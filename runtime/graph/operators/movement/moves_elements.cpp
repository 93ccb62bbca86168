#include "graph/operators/movement/moves_elements.hpp"

#include "graph/operators/movement/as_strided.hpp"
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

namespace vellum {
namespace {

template <typename... Ops>
bool is_one_of(const Operator& op) {
  return ((dynamic_cast<const Ops*>(&op) != nullptr) || ...);
}

}  // namespace

bool moves_elements(const Node& node) {
  const Operator& op = *node.op;
  if (const auto* resize = dynamic_cast<const Resize*>(&op))
    return resize->mode == ResizeMode::nearest && resize->coordinates != CoordinateMode::tf_crop_and_resize;
  if (const auto* pad = dynamic_cast<const Pad*>(&op))
    return pad->mode != PadMode::constant || (pad->value == 0.0f && node.inputs.size() < 3);
  if (const auto* pool = dynamic_cast<const Pool*>(&op))
    return pool->kind == PoolKind::max && !pool->with_indices && !pool->activation;
  return is_one_of<ReshapeFamily, Transpose, Slice, Split, Gather, Tile, Expand, AsStrided, DepthToSpace,
                   SpaceToDepth>(op);
}

}  // namespace vellum

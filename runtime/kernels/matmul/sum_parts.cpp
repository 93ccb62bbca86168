#include "kernels/matmul/sum_parts.hpp"

#include "kernels/framework/activation.hpp"
#include "kernels/conv/dispatch.hpp"
#include "kernels/framework/elements.hpp"

namespace vellum {

SumTarget target_of_parts(Lowering& lowering, const SumTarget& whole, int64_t parts) {
  if (parts == 1) return whole;
  const auto [n, c, h, w] = nchw(lowering.tensor(whole.y).desc.shape);
  const TensorDesc desc{{n * parts, c, h, w}, ElementType::f32, Storage::buffer, Layout::channels4};
  return {lowering.workspace(lowering.node().name + "/parts", desc), {}, kNoTensor};
}

void sum_parts(Lowering& lowering, const SumTarget& parts, const SumTarget& whole) {
  if (parts.y == whole.y) return;
  const Shape& shape = lowering.tensor(whole.y).desc.shape;
  PushConstants constants;
  constants.shape(lowering.tensor(parts.y).desc.shape).shape(shape);
  push_activation_or_bounds(constants, whole.activation);
  Dispatch dispatch = make_dispatch("sum_parts", grid_of_texels(lowering.caps(), shape),
                                    {reads(parts.y), writes(whole.y)}, constants);
  define_activation_or_bounds(dispatch, whole.activation);
  add_extras(lowering, dispatch, constants, {.residual = whole.residual}, 1);
  dispatch.push_constants = constants.bytes();
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

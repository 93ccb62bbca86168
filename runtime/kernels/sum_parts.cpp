#include "kernels/sum_parts.hpp"

#include "kernels/activation.hpp"
#include "kernels/conv_dispatch.hpp"
#include "kernels/elements.hpp"

namespace vellum {

TensorId workspace_of_parts(Lowering& lowering, TensorId y, int64_t parts) {
  const auto [n, c, h, w] = nchw(lowering.tensor(y).desc.shape);
  return lowering.workspace(lowering.node().name + "/parts",
                            {{n * parts, c, h, w}, ElementType::f32, Storage::buffer, Layout::channels4});
}

void sum_parts(Lowering& lowering, TensorId parts, TensorId y, const Activation& activation,
               TensorId residual) {
  const Shape& shape = lowering.tensor(y).desc.shape;
  PushConstants constants;
  constants.shape(lowering.tensor(parts).desc.shape).shape(shape);
  push_activation_or_bounds(constants, activation);
  Dispatch dispatch = make_dispatch("sum_parts", grid_of_texels(lowering.caps(), shape),
                                    {reads(parts), writes(y)}, constants);
  define_activation_or_bounds(dispatch, activation);
  if (residual != kNoTensor) {
    add_residual(lowering, dispatch, constants, residual);
    dispatch.push_constants = constants.bytes();
  }
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

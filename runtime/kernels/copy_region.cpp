#include "kernels/copy_region.hpp"

#include "kernels/elements.hpp"

namespace vellum {

namespace {

enum Slot : size_t { kN, kC, kH, kW };

}  // namespace

Region whole_region(const Shape& y) {
  Region region;
  region.size = nchw(y);
  return region;
}

void copy_region(Lowering& lowering, TensorId x, TensorId y, const Region& region) {
  const auto& [offset, step, mode, fill, begin, size] = region;
  const Shape &x_shape = lowering.tensor(x).desc.shape, &y_shape = lowering.tensor(y).desc.shape;
  const int64_t channels = nchw(x_shape)[kC];
  // A first texel that earlier channels of y share has to be kept in part.
  const bool keep = begin[kC] % 4 != 0;
  const bool fills_shared_texel =
      fill != 0.0f && channels % 4 != 0 && begin[kC] + size[kC] + offset[kC] > channels;
  const bool unaligned = offset[kC] % 4 != 0 || keep || fills_shared_texel;
  const int64_t first_slice = begin[kC] / 4, end_slice = (begin[kC] + size[kC] + 3) / 4;
  const Shape texels{size[kN], 4 * (end_slice - first_slice), size[kH], size[kW]};
  PushConstants constants;
  constants.shape(x_shape).shape(y_shape);
  constants.ivec4(begin[kW], begin[kH], first_slice, begin[kN]).shape(texels);
  constants.ivec4(offset[kW], offset[kH], offset[kC], offset[kN]);
  constants.ivec4(step[kW], step[kH], step[kC], step[kN]);
  constants.floats({fill}).ints({mode});
  Dispatch dispatch = make_dispatch("copy_region", grid_of_texels(lowering.caps(), texels),
                                    {reads(x), {y, keep ? Access::read_write : Access::write}}, constants);
  if (unaligned) define(dispatch, "UNALIGNED");
  if (keep) define(dispatch, "KEEP");
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

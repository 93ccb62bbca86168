// GridSample and RoiAlign.
#include "graph/operators/sample.hpp"

#include "kernels/framework/elements.hpp"

namespace vellum {

void lower_grid_sample(Lowering& lowering) {
  const GridSample& op = lowering.op<GridSample>();
  const Shape& shape = lowering.output_type().shape;
  const TensorId x = lowering.read(0, Layout::channels4), grid = lowering.read(1, Layout::linear);
  const TensorId y = lowering.write(0, Layout::channels4);
  Dispatch dispatch = make_dispatch(
      "grid_sample", grid_of_texels(lowering.caps(), shape), {reads(x), reads(grid), writes(y)},
      PushConstants().shape(lowering.input_type(0).shape).shape(shape).ints({op.align_corners}));
  if (op.mode == SampleMode::nearest) define(dispatch, "NEAREST");
  if (op.mode == SampleMode::cubic) define(dispatch, "CUBIC");
  if (op.padding == SamplePadding::border) define(dispatch, "BORDER");
  if (op.padding == SamplePadding::reflection) define(dispatch, "REFLECTION");
  lowering.dispatch(std::move(dispatch));
}

void lower_roi_align(Lowering& lowering) {
  const RoiAlign& op = lowering.op<RoiAlign>();
  const Shape& shape = lowering.output_type().shape;
  const TensorId x = lowering.read(0, Layout::channels4), rois = lowering.read(1, Layout::linear),
                 batches = lowering.read(2, Layout::linear);
  const TensorId y = lowering.write(0, Layout::channels4);
  PushConstants constants;
  constants.shape(lowering.input_type(0).shape).shape(shape);
  constants.ints({op.sampling_ratio, op.half_pixel}).floats({op.spatial_scale});
  Dispatch dispatch = make_dispatch("roi_align", grid_of_texels(lowering.caps(), shape),
                                    {reads(x), reads(rois), reads(batches), writes(y)}, constants);
  if (op.maximum) define(dispatch, "MAX");
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

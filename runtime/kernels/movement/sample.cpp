// GridSample and RoiAlign.
#include "graph/operators/movement/sample.hpp"

#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "program/divide.hpp"
#include "shaders/movement/grid_sample.h"
#include "shaders/movement/grid_sample_volume.h"
#include "shaders/movement/roi_align.h"

namespace vellum {

namespace {

void define_sampling(Dispatch& dispatch, const GridSample& op) {
  if (op.mode == SampleMode::nearest) define(dispatch, "NEAREST");
  if (op.mode == SampleMode::cubic) define(dispatch, "CUBIC");
  if (op.padding == SamplePadding::border) define(dispatch, "BORDER");
  if (op.padding == SamplePadding::reflection) define(dispatch, "REFLECTION");
}

void sample_volumes(Lowering& lowering, const GridSample& op) {
  const Shape &from = lowering.input_type(0).shape, &shape = lowering.output_type().shape;
  const TensorId x = lowering.read(0, Layout::linear), grid = lowering.read(1, Layout::linear);
  const TensorId y = lowering.write(0, Layout::linear);
  Dispatch dispatch = make_dispatch("grid_sample_volume", grid_1d(lowering.caps(), groups_of_four(shape)),
                                    {reads("x", x), reads("grid", grid), writes("y", y)},
                                    GridSampleVolumeParameters{.count = element_count(shape),
                                                               .channels = shape[1],
                                                               .points = product(shape, 2, 5),
                                                               .align_corners = op.align_corners,
                                                               .x_size = Shape{from[4], from[3], from[2]}});
  define_sampling(dispatch, op);
  lowering.dispatch(std::move(dispatch));
}

}  // namespace

void lower_grid_sample(Lowering& lowering) {
  const GridSample& op = lowering.op<GridSample>();
  const Shape& shape = lowering.output_type().shape;
  if (shape.size() == 5) return sample_volumes(lowering, op);
  const TensorId x = lowering.read(0, Layout::channels4), grid = lowering.read(1, Layout::linear);
  const TensorId y = lowering.write(0, Layout::channels4);
  Dispatch dispatch = make_dispatch("grid_sample", grid_of_texels(lowering.caps(), shape),
                                    {reads("x", x), reads("grid", grid), writes("y", y)},
                                    GridSampleParameters{.x_shape = texel_shape(lowering.input_type(0).shape),
                                                         .y_shape = texel_shape(shape),
                                                         .align_corners = op.align_corners});
  define_sampling(dispatch, op);
  lowering.dispatch(std::move(dispatch));
}

namespace {

// Returns the iterations for the samples of a bin: as many samples as the model says, or for a region of any
// size a few more than x has elements. `at_once`: samples of one iteration.
uint64_t iterations_of_samples(const RoiAlign& op, const Shape& x, int64_t at_once) {
  constexpr int64_t kBeyond = 6;
  const int64_t ratio = op.sampling_ratio;
  const int64_t rows = ratio > 0 ? ratio : x[2] + kBeyond, columns = ratio > 0 ? ratio : x[3] + kBeyond;
  return kShortLoops + loop_iterations(rows, loop_iterations(divide_up(columns, at_once)));
}

}  // namespace

void lower_roi_align(Lowering& lowering) {
  const RoiAlign& op = lowering.op<RoiAlign>();
  const Shape& shape = lowering.output_type().shape;
  const TensorId x = lowering.read(0, Layout::channels4), rois = lowering.read(1, Layout::linear),
                 batches = lowering.read(2, Layout::linear);
  const TensorId y = lowering.write(0, Layout::channels4);
  Dispatch dispatch =
      make_dispatch("roi_align", grid_of_texels(lowering.caps(), shape),
                    {reads("x", x), reads("rois", rois), reads("batches", batches), writes("y", y)},
                    RoiAlignParameters{.x_shape = texel_shape(lowering.input_type(0).shape),
                                       .y_shape = texel_shape(shape),
                                       .sampling_ratio = op.sampling_ratio,
                                       .half_pixel = op.half_pixel,
                                       .spatial_scale = op.spatial_scale});
  if (op.maximum) define(dispatch, "MAX");
  // Taking several samples in one iteration saves iterations, but wastes work if a bin has few samples. It is
  // used only if the device would otherwise end the loops. (SwiftShader, which ends no loops, needs gigabytes
  // to compile that many loads.)
  constexpr int64_t kAtOnce = 4;
  const Shape& x_shape = lowering.input_type(0).shape;
  const bool together = iterations_of_samples(op, x_shape, 1) > lowering.caps().max_loop_iterations;
  const int64_t at_once = together ? kAtOnce : 1;
  define(dispatch, "AT_ONCE", std::to_string(at_once));
  dispatch.iterations = iterations_of_samples(op, x_shape, at_once);
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

// Transpose.
#include "graph/operators/movement/transpose.hpp"

#include "kernels/framework/elements.hpp"
#include "kernels/framework/strided.hpp"
#include "shaders/movement/transpose.h"

namespace vellum {

namespace {

// Returns the layout of the output if the input or the output should be channels4. The result of NHWC -> NCHW
// is channels4, because operators on channels follow. The result of NCHW -> NHWC, and of every other
// permutation that moves the channels, is linear, because no operator on channels can follow.
Layout output_layout(const std::vector<size_t>& permutation, bool texels) {
  if (permutation == std::vector<size_t>{0, 3, 1, 2}) return Layout::channels4;
  const size_t channels = permutation.size() == 1 ? 0 : 1;
  const bool channels_stay = permutation[channels] == channels;
  return texels && channels_stay ? Layout::channels4 : Layout::linear;
}

void transpose_texels(Lowering& lowering, const std::vector<size_t>& permutation, Layout from, Layout to) {
  const Shape &x_shape = lowering.input_type(0).shape, &y_shape = lowering.output_type().shape;
  const TensorId x = lowering.read(0, from), y = lowering.write(0, to);
  // Coordinates in the shader's order (w, h, c, n).
  std::array<int64_t, 4> source{0, 1, 2, 3}, strides{0, 0, 0, 0};
  const size_t rank = permutation.size();
  const std::vector<int64_t> x_strides = row_major_strides(x_shape);
  for (size_t axis = 0; axis < rank; ++axis) {
    const size_t y_slot = 3 - channels4_slot(rank, axis);
    source[3 - channels4_slot(rank, permutation[axis])] = static_cast<int64_t>(y_slot);
    strides[y_slot] = x_strides[permutation[axis]];
  }
  const bool linear = to == Layout::linear;
  Dispatch dispatch = make_dispatch(
      "transpose",
      linear ? grid_1d(lowering.caps(), groups_of_four(y_shape)) : grid_of_texels(lowering.caps(), y_shape),
      {reads("x", x), writes("y", y)},
      TransposeParameters{.x_shape = texel_shape(x_shape),
                          .y_shape = texel_shape(y_shape),
                          .source = {source[0], source[1], source[2], source[3]},
                          .x_strides = {strides[0], strides[1], strides[2], strides[3]}});
  if (from == Layout::linear) define(dispatch, "X_LINEAR");
  if (linear) define(dispatch, "Y_LINEAR");
  lowering.dispatch(std::move(dispatch));
}

}  // namespace

void lower_transpose(Lowering& lowering) {
  const Shape& shape = lowering.input_type(0).shape;
  const std::vector<size_t> permutation = lowering.op<Transpose>().permutation(shape.size());
  const bool texels = is_in_channels4(lowering, 0) && !shape.empty();
  const Layout from = texels ? Layout::channels4 : Layout::linear;
  const bool to_texels = all_float(lowering) && shape.size() <= 4 && !shape.empty() &&
                         output_layout(permutation, texels) == Layout::channels4;
  if (texels || to_texels)
    return transpose_texels(lowering, permutation, from, to_texels ? Layout::channels4 : Layout::linear);
  const std::vector<int64_t> x_strides = row_major_strides(shape);
  std::vector<int64_t> strides;
  for (size_t axis : permutation) strides.push_back(x_strides[axis]);
  if (!strided_copy(lowering, 0, strides, 0)) lowering.run_on_host_for_rank();
}

}  // namespace vellum

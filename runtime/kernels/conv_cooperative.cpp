#include "kernels/conv_cooperative.hpp"

#include "kernels/activation.hpp"

namespace vellum {
namespace {

void define_matrices(Dispatch& dispatch, const CooperativeTile& tile) {
  const CooperativeMatrix& matrix = tile.matrix;
  const std::pair<const char*, int64_t> numbers[] = {
      {"MATRIX_M", matrix.m},    {"MATRIX_N", matrix.n},
      {"MATRIX_K", matrix.k},    {"TILE_M", tile.matrices},
      {"TILE_N", tile.matrices}, {"SUBGROUPS_M", CooperativeTile::kSubgroups},
      {"STEP_K", tile.step()},   {"SUBGROUPS_N", CooperativeTile::kSubgroups},
  };
  for (const auto& [macro, number] : numbers) dispatch.defines.emplace_back(macro, std::to_string(number));
  if (matrix.extension == MatrixExtension::nv) dispatch.defines.emplace_back("MATRIX_NV", "1");
}

// A workgroup for each block of the output, in rows where the device wants that.
void cover(Dispatch& dispatch, const DeviceCaps& caps, const CooperativeTile& tile, int64_t pixels,
           int64_t outputs) {
  const int64_t blocks = divide_up(pixels, tile.pixels()) * divide_up(outputs, tile.channels());
  const int64_t rows = divide_up(blocks, caps.max_workgroup_count[0]);
  dispatch.subgroup_size = caps.subgroup_size;
  dispatch.workgroup_size = {
      caps.subgroup_size * static_cast<uint32_t>(CooperativeTile::kSubgroups * CooperativeTile::kSubgroups),
      1, 1};
  dispatch.workgroup_count = {static_cast<uint32_t>(divide_up(blocks, rows)), static_cast<uint32_t>(rows), 1};
}

}  // namespace

void dispatch_cooperative(Lowering& lowering, TensorId x, TensorId y, const ConvWeights& weights,
                          const CooperativeTile& tile, const Window2d& window, const Activation& activation,
                          WeightValues values, const ConvExtras& extras) {
  const TensorId grid =
      packed_weights(lowering, weight_grid(lowering, weights.width(), weights.height()), std::move(values));
  const Shape &x_shape = lowering.tensor(x).desc.shape, &y_shape = lowering.tensor(y).desc.shape;
  const auto [n, channels, height, width] = nchw(y_shape);
  Dispatch dispatch;
  dispatch.shader = "conv_cooperative";
  dispatch.bindings = {{x, Access::read}, {grid, Access::read}, {y, Access::write}};
  cover(dispatch, lowering.caps(), tile, n * height * width, channels);
  define_matrices(dispatch, tile);
  define_activation_or_bounds(dispatch, activation);
  PushConstants constants;
  constants.shape(x_shape).shape(y_shape);
  push_activation_or_bounds(constants, activation);
  push_window(constants, window);
  add_extras(lowering, dispatch, constants, extras, n);
  dispatch.push_constants = constants.bytes();
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

// Resize and Upsample.
#include "graph/operators/movement/resize.hpp"

#include <algorithm>

#include "kernels/framework/elements.hpp"
#include "shaders/movement/resize.h"

namespace vellum {

namespace {

// Returns whether each output element along the axis is the input element with the same index.
bool is_identity(const std::vector<ResizeTaps>& taps, int64_t size) {
  if (static_cast<int64_t>(taps.size()) != size) return false;
  for (size_t i = 0; i < taps.size(); ++i) {
    if (taps[i].outside) return false;
    float own = 0.0f;
    for (const ResizeTap& tap : taps[i].taps) {
      if (tap.index == static_cast<int64_t>(i))
        own += tap.weight;
      else if (tap.weight != 0.0f)
        return false;
    }
    if (own != 1.0f) return false;
  }
  return true;
}

size_t most_taps(const std::vector<ResizeTaps>& axis) {
  size_t most = 1;
  for (const ResizeTaps& element : axis) most = std::max(most, element.taps.size());
  return most;
}

// Returns the shader's table: the coordinates of all columns and rows, then their weights.
std::vector<float> tap_table(const std::vector<ResizeTaps>& columns, const std::vector<ResizeTaps>& rows) {
  std::vector<float> coordinates, weights;
  for (const auto* axis : {&columns, &rows}) {
    for (const ResizeTaps& element : *axis) {
      for (size_t k = 0; k < 4; ++k) {
        const bool used = k < element.taps.size();
        coordinates.push_back(element.outside ? -1.0f
                              : used          ? static_cast<float>(element.taps[k].index)
                                              : 0.0f);
        weights.push_back(used ? element.taps[k].weight : 0.0f);
      }
    }
  }
  coordinates.insert(coordinates.end(), weights.begin(), weights.end());
  return coordinates;
}

}  // namespace

void lower_resize(Lowering& lowering) {
  const Resize& op = lowering.op<Resize>();
  const std::string name(op.type());
  const Shape &input = lowering.input_type(0).shape, &output = lowering.output_type().shape;
  const size_t rank = input.size();
  if (!is_float(lowering.input_type(0).dtype))
    return lowering.run_on_host(name + " of integers has no kernel");
  if (rank > 4) return lowering.run_on_host(name + " of more than four dimensions has no kernel");
  const ResizeGeometry geometry = op.geometry(operator_inputs(lowering));
  std::vector<ResizeTaps> columns{{{{0, 1.0f}}}}, rows{{{{0, 1.0f}}}};
  for (size_t axis = 0; axis < rank; ++axis) {
    const size_t slot = channels4_slot(rank, axis);
    std::vector<ResizeTaps> taps = op.taps(geometry, axis);
    if (slot >= 2)
      (slot == 2 ? rows : columns) = std::move(taps);
    else if (!is_identity(taps, input[axis]))
      return lowering.run_on_host(name + " across channels or images has no kernel");
  }
  if (std::max(most_taps(columns), most_taps(rows)) > 4)
    return lowering.run_on_host(name + " that averages has no kernel");
  // A graph output, which is linear and fp32, needs no tensor of texels before it.
  const bool linear = lowering.is_final(0);
  const TensorId x = lowering.read(0, Layout::channels4),
                 y = lowering.write(0, linear ? Layout::linear : Layout::channels4);
  TensorDesc desc = lowering.texel_grid(static_cast<uint32_t>(columns.size() + rows.size()), 2);
  desc.element = ElementType::f32;  // coordinates above 2048 are not exact in fp16
  const TensorId table = lowering.weight(lowering.node().name + "/taps", desc,
                                         [columns, rows] { return tap_table(columns, rows); });
  Dispatch dispatch = make_dispatch(
      "resize", grid_of_texels(lowering.caps(), output),
      {reads("x", x), reads("table", table), writes("y", y)},
      ResizeParameters{
          .x_shape = texel_shape(input), .y_shape = texel_shape(output), .extrapolation = op.extrapolation});
  if (linear) define(dispatch, "Y_LINEAR");
  const size_t taps = std::max(most_taps(columns), most_taps(rows));
  define(dispatch, "TAPS", taps == 1 ? "1" : taps == 2 ? "2" : "4");
  if (op.fixed) {
    define(dispatch, op.fixed.in_floats ? "FIXED_IN_FLOATS" : "FIXED_RESIZE");
    dispatch.appended = {{"fixed_step", op.fixed.step}, {"fixed_zero", op.fixed.zero}};
  }
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

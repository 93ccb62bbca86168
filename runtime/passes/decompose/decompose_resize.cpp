// Resize that averages, along the last two axes, as products with constant matrices.
#include "graph/operators/movement/resize.hpp"
#include "passes/decompose/decomposition.hpp"

namespace vellum {
namespace {

// The weight of each input element (column) for each output element (row); transposed if `columns_first`.
HostTensor weight_matrix(DType dtype, const std::vector<ResizeTaps>& taps, int64_t inputs,
                         bool columns_first) {
  const auto outputs = static_cast<int64_t>(taps.size());
  const Shape shape = columns_first ? Shape{inputs, outputs} : Shape{outputs, inputs};
  std::vector<float> weights(static_cast<size_t>(checked_element_count(shape)), 0.0f);
  for (int64_t row = 0; row < outputs; ++row)
    for (const ResizeTap& tap : taps[static_cast<size_t>(row)].taps)
      weights[static_cast<size_t>(columns_first ? tap.index * outputs + row : row * inputs + tap.index)] +=
          tap.weight;
  return HostTensor::from<float>(dtype, shape, weights);
}

}  // namespace

bool decompose_resize(Decomposition& d) {
  const auto* op = dynamic_cast<const Resize*>(d.node().op.get());
  if (!op || !op->antialias || op->mode == ResizeMode::nearest || !is_float(d.input_type(0).dtype))
    return false;
  if (op->coordinates == CoordinateMode::tf_crop_and_resize) return false;
  const ResizeGeometry g = op->geometry(d.inputs());
  const size_t rank = g.input.size();
  if (rank < 2) return false;
  for (size_t axis = 0; axis + 2 < rank; ++axis)
    if (g.scales[axis] != 1.0f) return false;
  const DType dtype = d.input_type(0).dtype;
  const size_t row = rank - 2, column = rank - 1;
  const ValueId columns = d.add_constant(weight_matrix(dtype, op->taps(g, column), g.input[column], true));
  const ValueId rows = d.add_constant(weight_matrix(dtype, op->taps(g, row), g.input[row], false));
  d.add_to({d.output(0)}, "MatMul", {rows, d.add("MatMul", {d.input(0), columns})});
  return true;
}

}  // namespace vellum

// Resize that averages, along the last two axes, as products with constant matrices; Resize of volumes as two
// of pictures.
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

// Resizes pictures whose rows and columns have these sizes and scales.
ValueId resize_pictures(Decomposition& d, const Resize& whole, ValueId pictures, const Shape& sizes,
                        const std::vector<float>& scales) {
  auto op = std::make_shared<Resize>(whole);
  const bool by_sizes = !op->scales && op->sizes_input != Resize::kNone && d.has_input(op->sizes_input) &&
                        element_count(d.input_type(op->sizes_input).shape) > 0;
  op->axes = Ints{2, 3};
  op->scales.reset();
  op->roi_input = op->scales_input = op->sizes_input = Resize::kNone;
  std::vector<ValueId> inputs{pictures};
  // A scale that follows from sizes is rounded: sizes that follow from it may be others.
  if (by_sizes) {
    op->sizes_input = 1;
    inputs.push_back(d.add_ints(sizes));
  } else {
    op->scales = scales;
  }
  return d.add(std::move(op), std::move(inputs));
}

// Rows and columns of the pictures, then depth: the axes are independent of one another.
bool resize_volume(Decomposition& d, const Resize& op, const ResizeGeometry& g) {
  const Shape &x = g.input, &y = g.output;
  if (element_count(x) == 0 || element_count(y) == 0) return false;
  if (op.policy != AspectPolicy::stretch || x[0] != y[0] || x[1] != y[1] || g.scales[0] != 1.0f ||
      g.scales[1] != 1.0f)
    return false;
  ValueId value = d.input(0);
  if (y[3] != x[3] || y[4] != x[4] || g.scales[3] != 1.0f || g.scales[4] != 1.0f) {
    value = d.add("Reshape", {value, d.add_ints({x[0], x[1] * x[2], x[3], x[4]})});
    value = resize_pictures(d, op, value, {y[3], y[4]}, {g.scales[3], g.scales[4]});
  }
  if (y[2] != x[2] || g.scales[2] != 1.0f) {
    value = d.add("Reshape", {value, d.add_ints({x[0], x[1], x[2], y[3] * y[4]})});
    value = resize_pictures(d, op, value, {y[2], y[3] * y[4]}, {g.scales[2], 1.0f});
  }
  d.add_to({d.output(0)}, "Reshape", {value, d.add_ints({y[0], y[1], y[2], y[3], y[4]})});
  return true;
}

}  // namespace

bool decompose_resize(Decomposition& d) {
  const auto* op = dynamic_cast<const Resize*>(d.node().op.get());
  if (!is_float(d.input_type(0).dtype)) return decompose_resize_of_integers(d);
  if (!op || op->coordinates == CoordinateMode::tf_crop_and_resize) return false;
  const ResizeGeometry g = op->geometry(d.inputs());
  if (!op->antialias) return g.input.size() == 5 && resize_volume(d, *op, g);
  if (op->mode == ResizeMode::nearest) return false;
  const size_t rank = g.input.size();
  if (rank < 2) return false;
  for (size_t axis = 0; axis + 2 < rank; ++axis)
    if (g.scales[axis] != 1.0f) return false;
  const DType dtype = d.input_type(0).dtype;
  const size_t row = rank - 2, column = rank - 1;
  // A matrix of 4096 by 4096. Larger ones would take gigabytes, nearly all of them zeros.
  constexpr int64_t kMostWeights = int64_t{1} << 24;
  for (const size_t axis : {row, column})
    if (g.input[axis] > 0 && g.output[axis] > kMostWeights / g.input[axis]) return false;
  const ValueId columns = d.add_constant(weight_matrix(dtype, op->taps(g, column), g.input[column], true));
  const ValueId rows = d.add_constant(weight_matrix(dtype, op->taps(g, row), g.input[row], false));
  d.add_to({d.output(0)}, "MatMul", {rows, d.add("MatMul", {d.input(0), columns})});
  return true;
}

}  // namespace vellum

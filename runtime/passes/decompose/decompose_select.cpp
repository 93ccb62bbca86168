// Hardmax, Dropout with its mask, and MediaPipe's MaxUnpooling2D.
#include "graph/operators/movement/max_unpool.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/reduction/reduce.hpp"
#include "graph/operators/reduction/softmax.hpp"
#include "passes/decompose/decomposition.hpp"

namespace vellum {

// One at the first maximum, zero elsewhere.
bool decompose_hardmax(Decomposition& d) {
  const auto& op = d.op<Softmax>();
  const TensorType& type = d.input_type(0);
  const Softmax::Extent extent = op.extent(type.shape);
  const Shape rows{extent.outer, extent.length, extent.inner};
  const ValueId x = d.add("Reshape", {d.input(0), d.add_ints(rows)});
  const ValueId at = d.add("ArgMax", {x}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}});
  const ValueId values = d.add_floats(type.dtype, {2}, {0.0f, 1.0f});
  const ValueId y = d.add("OneHot", {at, d.add_ints({extent.length}), values}, {{"axis", int64_t{1}}});
  d.add_to({d.output(0)}, "Reshape", {y, d.add_ints(type.shape)});
  return true;
}

// Inference drops nothing: the mask is all true.
bool decompose_dropout(Decomposition& d) {
  if (!d.has_output(1)) return false;
  const TensorType& mask = d.output_type(1);
  const ValueId one = d.add_constant(HostTensor::from<float>(mask.dtype, {}, std::array{1.0f}));
  d.add_to({d.output(1)}, "Expand", {one, d.add_ints(mask.shape)});
  d.add_to({d.output(0)}, "Identity", {d.input(0)});
  return true;
}

// As a MaxUnpool, whose indices count through the whole output instead of each window.
bool decompose_max_unpooling(Decomposition& d) {
  const auto& op = d.op<MaxUnpooling2d>();
  const Shape x = d.input_type(0).shape, y = d.output_type().shape;
  const auto scalar = [&](int64_t value) { return d.add_constant(HostTensor::i64({}, std::array{value})); };
  std::vector<int64_t> planes, windows;
  for (int64_t plane = 0; plane < x[0] * x[1]; ++plane) planes.push_back(plane * y[2] * y[3]);
  for (int64_t row = 0; row < x[2]; ++row)
    for (int64_t column = 0; column < x[3]; ++column)
      windows.push_back(row * op.strides[0] * y[3] + column * op.strides[1]);
  const ValueId whole = d.add("Cast", {d.input(1)}, {{"to", int64_t{7}}});
  const ValueId tap = d.add("Clip", {whole, scalar(0), scalar(op.kernel[0] * op.kernel[1] - 1)});
  const ValueId row = d.add("Div", {tap, scalar(op.kernel[1])});
  const ValueId in_window = d.add("Add", {tap, d.add("Mul", {row, scalar(y[3] - op.kernel[1])})});
  const ValueId base = d.add("Add", {d.add_constant(HostTensor::i64({x[0], x[1], 1, 1}, planes)),
                                     d.add_constant(HostTensor::i64({1, 1, x[2], x[3]}, windows))});
  auto unpool = std::make_shared<MaxUnpool>();
  unpool->window.kernel = unpool->window.strides = {op.kernel[0], op.kernel[1]};
  d.add_to({d.output(0)}, unpool, {d.input(0), d.add("Add", {in_window, base})});
  return true;
}

}  // namespace vellum

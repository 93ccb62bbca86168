// Normalisations whose scales are computed at run time, and those that equal another operator.
#include <algorithm>

#include "graph/operators/reduction/lp_normalization.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "passes/decompose/decomposition.hpp"

namespace vellum {
namespace {

bool computed(const Decomposition& d, size_t first, size_t last) {
  for (size_t i = first; i <= last; ++i)
    if (d.has_input(i) && !d.constant(i)) return true;
  return false;
}

size_t elements_of(const Shape& shape) { return static_cast<size_t>(element_count(shape)); }

ValueId ones(Decomposition& d, const Shape& shape) {
  return d.add_floats(d.input_type(0).dtype, shape, std::vector<float>(elements_of(shape), 1.0f));
}
ValueId zeros(Decomposition& d, const Shape& shape) {
  return d.add_floats(d.input_type(0).dtype, shape, std::vector<float>(elements_of(shape), 0.0f));
}

// A vector with one element per channel, so that it broadcasts along dimension 1 of input 0.
ValueId along_channels(Decomposition& d, ValueId vector) {
  Ints shape(d.input_type(0).shape.size() - 1, 1);
  shape[0] = d.input_type(0).shape[1];
  return d.add("Reshape", {vector, d.add_ints(shape)});
}

}  // namespace

bool decompose_batch_norm(Decomposition& d) {
  if (!computed(d, 1, 4) && d.input_type(0).shape.size() <= 4) return false;
  const auto& op = d.op<BatchNormalization>();
  if (op.activation) return false;
  const DType dtype = d.input_type(4).dtype;
  const ValueId variance = d.add("Add", {d.input(4), d.add_floats(dtype, {}, {op.epsilon})});
  const ValueId scale = d.add("Div", {d.input(1), d.add("Sqrt", {variance})});
  const ValueId bias = d.add("Sub", {d.input(2), d.add("Mul", {d.input(3), scale})});
  const ValueId scaled = d.add("Mul", {d.input(0), along_channels(d, scale)});
  d.add_to({d.output(0)}, "Add", {scaled, along_channels(d, bias)});
  return true;
}

bool decompose_instance_norm(Decomposition& d) {
  if (!computed(d, 1, 2)) return false;
  const auto& op = d.op<InstanceNormalization>();
  const Shape channels{d.input_type(0).shape[1]};
  const ValueId normal = d.add("InstanceNormalization", {d.input(0), ones(d, channels), zeros(d, channels)},
                               {{"epsilon", op.epsilon}});
  const ValueId scaled = d.add("Mul", {normal, along_channels(d, d.input(1))});
  d.add_to({d.output(0)}, "Add", {scaled, along_channels(d, d.input(2))});
  return true;
}

bool decompose_layer_norm(Decomposition& d) {
  const auto& op = d.op<LayerNormalization>();
  const Shape& shape = d.input_type(0).shape;
  const size_t axis = normalize_axis(op.axis, shape.size());
  const Shape row(shape.begin() + static_cast<std::ptrdiff_t>(axis), shape.end());
  const auto fits = [&](size_t i) {
    return !d.has_input(i) || (d.constant(i) && d.constant(i)->elements() == element_count(row));
  };
  if (fits(1) && fits(2)) return false;
  const ValueId normal = d.add_value();
  std::vector<ValueId> outputs = d.node().outputs;
  outputs[0] = normal;
  d.add_to(outputs, std::make_shared<LayerNormalization>(op), {d.input(0), ones(d, row)});
  if (!d.has_input(2)) {
    d.add_to({d.output(0)}, "Mul", {normal, d.input(1)});
    return true;
  }
  d.add_to({d.output(0)}, "Add", {d.add("Mul", {normal, d.input(1)}), d.input(2)});
  return true;
}

bool decompose_group_norm(Decomposition& d) {
  if (!computed(d, 1, 2)) return false;
  const auto& op = d.op<GroupNormalization>();
  const int64_t channels = d.input_type(0).shape[1];
  auto plain = std::make_shared<GroupNormalization>(op);
  const ValueId normal = d.add(plain, {d.input(0), ones(d, {channels}), zeros(d, {channels})});
  // One factor per group is repeated for each of its channels.
  const auto per_channel = [&](size_t i) {
    if (d.input_type(i).shape == Shape{channels}) return along_channels(d, d.input(i));
    const ValueId column = d.add("Reshape", {d.input(i), d.add_ints({op.groups, 1})});
    return along_channels(d, d.add("Expand", {column, d.add_ints({op.groups, channels / op.groups})}));
  };
  const ValueId scaled = d.add("Mul", {normal, per_channel(1)});
  d.add_to({d.output(0)}, "Add", {scaled, per_channel(2)});
  return true;
}

// A LayerNormalization over the axes, which a Transpose makes the last ones. Its epsilon is under the root:
// 1e-18 there has the effect on a variance of zero that 1e-9 has beside the deviation.
bool decompose_mean_variance_norm(Decomposition& d) {
  const Shape& shape = d.input_type(0).shape;
  const std::vector<size_t> axes = normalize_axes(d.op<MeanVarianceNormalization>().axes, shape.size());
  if (axes.empty()) return false;
  Ints order, row;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) order.push_back(static_cast<int64_t>(axis));
  auto norm = std::make_shared<LayerNormalization>();
  norm->axis = static_cast<int64_t>(order.size());
  norm->epsilon = 1e-18f;
  for (const size_t axis : axes) {
    order.push_back(static_cast<int64_t>(axis));
    row.push_back(shape[axis]);
  }
  Ints back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  const ValueId rows = d.add("Transpose", {d.input(0)}, {{"perm", order}});
  const ValueId normal = d.add(norm, {rows, ones(d, row)});
  d.add_to({d.output(0)}, "Transpose", {normal}, {{"perm", back}});
  return true;
}

// A row of zeros stays zero.
bool decompose_lp_norm(Decomposition& d) {
  const auto& op = d.op<LpNormalization>();
  if (op.p != 1 && op.p != 2) return false;
  const DType dtype = d.input_type(0).dtype;
  const ValueId norm = d.add(op.p == 1 ? "ReduceL1" : "ReduceL2", {d.input(0)}, {{"axes", Ints{op.axis}}});
  const ValueId is_zero = d.add("Equal", {norm, d.add_floats(dtype, {}, {0.0f})});
  const ValueId divisor = d.add("Where", {is_zero, d.add_floats(dtype, {}, {1.0f}), norm});
  d.add_to({d.output(0)}, "Div", {d.input(0), divisor});
  return true;
}

}  // namespace vellum

#include "graph/operators/movement/pad.hpp"

#include <numeric>

namespace vellum {

namespace {

constexpr std::string_view kModeNames[] = {"constant", "reflect", "edge", "wrap"};

int64_t modulo(int64_t a, int64_t b) { return (a % b + b) % b; }

// Returns the index in [0, size) that the padded index reads; kOutside for the constant.
int64_t source_index(PadMode mode, int64_t index, int64_t size) {
  if (index >= 0 && index < size) return index;
  switch (mode) {
    case PadMode::constant:
      return kOutside;
    case PadMode::edge:
      return index < 0 ? 0 : size - 1;
    case PadMode::wrap:
      return modulo(index, size);
    case PadMode::reflect: {
      if (size == 1) return 0;
      const int64_t period = 2 * (size - 1), at = modulo(index, period);
      return at < size ? at : period - at;
    }
  }
  return kOutside;
}

}  // namespace

PadAmounts Pad::amounts(Inputs inputs) const {
  const Shape& data = input_type(inputs, 0, "data").shape;
  const auto given = attribute_or_input(pads, inputs, 1, "pads");
  if (!given) refuse_model("pads are missing");
  Ints axes(data.size());
  std::iota(axes.begin(), axes.end(), int64_t{0});
  if (has_input(inputs, 3)) axes = constant_ints(inputs, 3, "axes");
  normalize_axes(axes, data.size());
  if (given->size() != 2 * axes.size()) {
    refuse_model("pads has " + std::to_string(given->size()) + " values, expected " +
                 std::to_string(2 * axes.size()));
  }
  PadAmounts result{Ints(data.size(), 0), Ints(data.size(), 0), data};
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = normalize_axis(axes[i], data.size());
    const int64_t begin = (*given)[i], end = (*given)[axes.size() + i];
    result.begin[axis] = begin;
    result.end[axis] = end;
    result.output[axis] = checked_add(checked_add(data[axis], begin), end);
    if (result.output[axis] < 0)
      refuse_model("pads crop more than dimension " + std::to_string(axis) + " has");
    if (mode != PadMode::constant && data[axis] == 0 && result.output[axis] > 0) {
      refuse_model("dimension " + std::to_string(axis) + " is empty and has nothing to repeat");
    }
  }
  return result;
}

HostTensor Pad::padding_value(Inputs inputs) const {
  const DType dtype = input_type(inputs, 0, "data").dtype;
  if (!has_input(inputs, 2)) return HostTensor::from<float>(dtype, {}, std::array{value});
  const HostTensor& given = constant_input(inputs, 2, "constant_value");
  if (given.dtype() != dtype || given.elements() != 1) {
    refuse_model("constant_value is " + to_string(given.type()) + ", expected one " +
                 std::string(name(dtype)));
  }
  return given;
}

std::vector<TensorType> Pad::infer(Inputs inputs) const {
  return {{input_type(inputs, 0, "data").dtype, amounts(inputs).output}};
}

std::vector<HostTensor> Pad::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const auto known = known_inputs(inputs);
  const PadAmounts pad = amounts(known);
  const HostTensor fill = padding_value(known);
  const Shape& in_shape = inputs[0]->shape();
  const auto strides = row_major_strides(in_shape);
  // Per axis: the input offset that each output index reads.
  std::vector<Ints> offsets(in_shape.size());
  for (size_t axis = 0; axis < in_shape.size(); ++axis) {
    for (int64_t i = 0; i < type.shape[axis]; ++i) {
      const int64_t from = source_index(mode, i - pad.begin[axis], in_shape[axis]);
      offsets[axis].push_back(from == kOutside ? kOutside : from * strides[axis]);
    }
  }
  return {gather_by_axis(*inputs[0], type.shape, offsets, fill)};
}

Attributes Pad::attributes() const {
  Attributes result;
  result.set("mode", std::string(kModeNames[static_cast<size_t>(mode)]));
  if (pads) result.set("pads", *pads);
  if (value != 0.0f) result.set("value", value);
  return result;
}

std::shared_ptr<const Operator> make_pad(const NodeSpec& spec) {
  auto op = std::make_shared<Pad>();
  const std::string mode = spec.attributes->get_string("mode", "constant");
  bool known = false;
  for (size_t i = 0; i < std::size(kModeNames); ++i) {
    if (mode != kModeNames[i]) continue;
    op->mode = static_cast<PadMode>(i);
    known = true;
  }
  if (!known) refuse_model("mode '" + mode + "' is unknown");
  if (spec.opset < 11) {
    op->pads = optional_ints(*spec.attributes, "pads");
    op->value = spec.attributes->get_float("value", 0.0f);
  }
  return op;
}

}  // namespace vellum

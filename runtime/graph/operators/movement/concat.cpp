#include "graph/operators/movement/concat.hpp"

#include <cstring>

namespace vellum {

std::vector<TensorType> Concat::infer(Inputs inputs) const {
  TensorType y = input_type(inputs, 0, "inputs");
  const size_t at = normalize_axis(axis, y.shape.size());
  for (size_t i = 1; i < inputs.size(); ++i) {
    const TensorType& x = input_type(inputs, i, "inputs");
    Shape expected = y.shape;
    if (x.shape.size() == expected.size()) expected[at] = x.shape[at];
    if (x.dtype != y.dtype || x.shape != expected) {
      refuse_model("input " + std::to_string(i) + " is " + to_string(x) + " and does not join " +
                   to_string(y) + " along axis " + std::to_string(at));
    }
    y.shape[at] = checked_add(y.shape[at], x.shape[at]);
  }
  return {y};
}

std::vector<HostTensor> Concat::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const size_t at = normalize_axis(axis, type.shape.size());
  HostTensor y(type.dtype, type.shape);
  const auto outer = static_cast<size_t>(product(type.shape, 0, at));
  const size_t row = outer == 0 ? 0 : y.byte_size() / outer;
  std::byte* out = y.mutable_data();
  for (const HostTensor* x : inputs) {
    const size_t piece = outer == 0 ? 0 : x->byte_size() / outer;
    for (size_t i = 0; i < outer; ++i) std::memcpy(out + i * row, x->data() + i * piece, piece);
    out += piece;
  }
  return {y};
}

Attributes Concat::attributes() const {
  Attributes result;
  result.set("axis", axis);
  return result;
}

Ints Split::sizes(Inputs inputs) const {
  const Shape& shape = input_type(inputs, 0, "input").shape;
  const int64_t size = shape[normalize_axis(axis, shape.size())];
  if (const auto given = attribute_or_input(split, inputs, 1, "split")) {
    int64_t sum = 0;
    for (const int64_t part : *given) {
      if (part < 0) refuse_model("split holds " + std::to_string(part));
      sum = checked_add(sum, part);
    }
    if (sum != size || given->size() < output_count) {
      refuse_model("split [" + to_string(Shape(*given)) + "] does not cover " + std::to_string(size) +
                   " in " + std::to_string(output_count) + " outputs");
    }
    return *given;
  }
  const auto parts = static_cast<int64_t>(output_count);
  const int64_t part = (size + parts - 1) / parts, last = size - part * (parts - 1);
  if ((part != last && !uneven) || last < 0) {
    refuse_model(std::to_string(size) + " does not split into " + std::to_string(parts) + " equal parts");
  }
  Ints result(output_count, part);
  result.back() = last;
  return result;
}

std::vector<TensorType> Split::infer(Inputs inputs) const {
  const TensorType& x = input_type(inputs, 0, "input");
  const size_t at = normalize_axis(axis, x.shape.size());
  std::vector<TensorType> outputs;
  for (const int64_t part : sizes(inputs)) {
    outputs.push_back(x);
    outputs.back().shape[at] = part;
  }
  return outputs;
}

std::vector<HostTensor> Split::evaluate(HostInputs inputs) const {
  const auto types = infer_known(*this, inputs);
  const size_t at = normalize_axis(axis, inputs[0]->shape().size());
  const auto strides = row_major_strides(inputs[0]->shape());
  std::vector<HostTensor> outputs;
  int64_t start = 0;
  for (const TensorType& type : types) {
    outputs.push_back(gather_strided(*inputs[0], type.shape, strides, start * strides[at]));
    start += type.shape[at];
  }
  return outputs;
}

Attributes Split::attributes() const {
  Attributes result;
  result.set("axis", axis);
  if (split) result.set("split", *split);
  return result;
}

std::shared_ptr<const Operator> make_concat(const NodeSpec& spec) {
  auto op = std::make_shared<Concat>();
  if (!spec.attributes->has("axis") && spec.opset >= 4) refuse_model("attribute 'axis' is missing");
  op->axis = spec.attributes->get_int("axis", 1);
  for (size_t i = 0; i < spec.input_present.size(); ++i) {
    if (!spec.has_input(i)) refuse_model("input " + std::to_string(i) + " is missing");
  }
  return op;
}

std::shared_ptr<const Operator> make_split(const NodeSpec& spec) {
  auto op = std::make_shared<Split>();
  op->axis = spec.attributes->get_int("axis", 0);
  op->output_count = spec.output_count;
  if (spec.opset < 13) op->split = optional_ints(*spec.attributes, "split");
  if (spec.opset >= 18 && spec.attributes->has("num_outputs")) {
    op->uneven = true;
    const int64_t count = spec.attributes->get_int("num_outputs", 0);
    if (count != static_cast<int64_t>(spec.output_count)) {
      refuse_model("num_outputs is " + std::to_string(count) + ", the node has " +
                   std::to_string(spec.output_count));
    }
  }
  if (op->output_count == 0) refuse_model("the node has no output");
  return op;
}

}  // namespace vellum

#include "graph/operators/movement/max_unpool.hpp"

#include <algorithm>

namespace vellum {

Shape MaxUnpool::natural_shape(Inputs inputs) const {
  const Shape& x = input_type(inputs, 0, "X").shape;
  if (x.size() < 3) refuse_model("X has shape " + to_string(x) + ", expected N x C x spatial");
  const WindowPlacement p = window_defaults(window, std::span(x).subspan(2), window.kernel);
  Shape shape{x[0], x[1]};
  for (size_t i = 0; i < p.input.size(); ++i) {
    const int64_t full = checked_add(checked_multiply(p.input[i] - 1, p.strides[i]), p.kernel[i]);
    shape.push_back(full - p.pads_begin[i] - p.pads_end[i]);
    if (shape.back() < 0) refuse_model("pads leave nothing of an output of " + std::to_string(full));
  }
  return shape;
}

std::vector<TensorType> MaxUnpool::infer(Inputs inputs) const {
  const TensorType &x = float_input_type(inputs, 0, "X"), &indices = input_type(inputs, 1, "I");
  if (indices.dtype != DType::i64 || indices.shape != x.shape) {
    refuse_model("I is " + to_string(indices) + ", X " + to_string(x));
  }
  const Shape natural = natural_shape(inputs);
  if (!has_input(inputs, 2)) return {{x.dtype, natural}};
  const Shape shape = constant_ints(inputs, 2, "output_shape");
  bool fits = shape.size() == natural.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] >= natural[i];
  if (!fits) refuse_model("output_shape is " + to_string(shape) + ", the window gives " + to_string(natural));
  return {{x.dtype, shape}};
}

std::vector<HostTensor> MaxUnpool::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const Shape natural = natural_shape(known_inputs(inputs));
  const int64_t count = checked_element_count(natural);
  const auto from = row_major_strides(natural), to = row_major_strides(type.shape);
  const auto indices = inputs[1]->as<int64_t>();
  HostTensor y(type.dtype, type.shape);
  visit_element_size(type.dtype, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const auto in = inputs[0]->as<Element>();
    auto out = y.mutable_as<Element>();
    for (size_t i = 0; i < in.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= count) refuse_model("I holds " + std::to_string(indices[i]));
      int64_t at = 0;
      for (size_t d = 0; d < natural.size(); ++d) at += indices[i] / from[d] % natural[d] * to[d];
      out[static_cast<size_t>(at)] = in[i];
    }
  });
  return {y};
}

Attributes MaxUnpool::attributes() const {
  Attributes result;
  window.print(result);
  return result;
}

std::shared_ptr<const Operator> make_max_unpool(const NodeSpec& spec) {
  auto op = std::make_shared<MaxUnpool>();
  op->window = read_window(*spec.attributes);
  if (op->window.kernel.empty()) refuse_model("attribute 'kernel_shape' is missing");
  return op;
}

std::vector<TensorType> MaxUnpooling2d::infer(Inputs inputs) const {
  const TensorType &x = float_input_type(inputs, 0, "X"), &indices = float_input_type(inputs, 1, "I");
  if (x.shape.size() != 4 || indices.shape != x.shape) {
    refuse_model("I is " + to_string(indices) + ", X " + to_string(x) + "; expected N x C x H x W of both");
  }
  return {{x.dtype,
           {x.shape[0], x.shape[1], checked_multiply(x.shape[2], kernel[0]),
            checked_multiply(x.shape[3], kernel[1])}}};
}

std::vector<HostTensor> MaxUnpooling2d::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const HostTensor x = cast(*inputs[0], DType::f32), indices = cast(*inputs[1], DType::i64);
  HostTensor y(DType::f32, type.shape);
  const int64_t height = x.shape()[2], width = x.shape()[3];
  const auto from = x.as<float>();
  const auto at = indices.as<int64_t>();
  auto to = y.mutable_as<float>();
  for (size_t i = 0; i < from.size(); ++i) {
    const auto position = static_cast<int64_t>(i);
    const int64_t column = position % width, row = position / width % height,
                  plane = position / width / height;
    const int64_t tap = std::clamp<int64_t>(at[i], 0, kernel[0] * kernel[1] - 1);
    const int64_t out_row = row * strides[0] + tap / kernel[1],
                  out_column = column * strides[1] + tap % kernel[1];
    to[static_cast<size_t>((plane * type.shape[2] + out_row) * type.shape[3] + out_column)] = from[i];
  }
  return {cast(y, type.dtype)};
}

Attributes MaxUnpooling2d::attributes() const {
  Attributes result;
  result.set("kernel_shape", Ints{kernel[0], kernel[1]});
  result.set("strides", Ints{strides[0], strides[1]});
  return result;
}

}  // namespace vellum

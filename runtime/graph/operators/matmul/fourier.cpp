// DFT and STFT: products with matrices of cosines and sines.
// https://onnx.ai/onnx/operators/onnx__DFT.html, onnx__STFT.html
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "graph/composed.hpp"

namespace vellum {
namespace {

struct Transform {
  bool inverse = false;
  // True: only the bins up to the middle; for a real signal the others follow from them. For an inverse
  // transform the input has only these bins, and the output is real.
  bool onesided = false;
};

// Returns the matrix of the transform of `length` values. It maps the first `from` values, with `parts`
// numbers each (real, imaginary), to `to` values with `to_parts` numbers each.
struct DftMatrix {
  Transform transform;
  int64_t length = 0, from = 0, parts = 0, to = 0, to_parts = 0;

  HostTensor make(DType dtype) const {
    const Shape shape{from * parts, to * to_parts};
    std::vector<double> values(Body::table_size(shape), 0.0);
    for (int64_t row = 0; row < std::min(from, rows_used()); ++row)
      for (int64_t column = 0; column < to; ++column)
        for (int64_t part = 0; part < parts; ++part)
          for (int64_t to_part = 0; to_part < to_parts; ++to_part)
            values[static_cast<size_t>(((row * parts + part) * to + column) * to_parts + to_part)] =
                weight(row) * factor(row, column, part, to_part);
    return HostTensor::from<double>(dtype, shape, values);
  }

 private:
  int64_t rows_used() const { return transform.inverse && transform.onesided ? length / 2 + 1 : length; }

  // A bin counts twice if its mirror image is missing in a one-sided spectrum.
  double weight(int64_t row) const {
    if (!transform.inverse) return 1;
    const bool mirrored = transform.onesided && row > 0 && 2 * row != length;
    return (mirrored ? 2.0 : 1.0) / static_cast<double>(length);
  }

  // e^(-+2 pi i row column / length), multiplied by 1 (part 0) or i (part 1): its real or imaginary part.
  double factor(int64_t row, int64_t column, int64_t part, int64_t to_part) const {
    const auto turn = static_cast<double>(row * column % length) / static_cast<double>(length);
    const double angle = (transform.inverse ? 2 : -2) * std::numbers::pi * turn;
    if (part == to_part) return std::cos(angle);
    return part == 0 ? std::sin(angle) : -std::sin(angle);
  }
};

// Transforms x along `axis`. The last axis of x has a real number, or a real and an imaginary one.
ValueId transformed(Body& body, ValueId x, size_t axis, int64_t length, const Transform& transform) {
  const Shape shape = body.shape(x);
  const int64_t parts = shape.back();
  if (parts != 1 && parts != 2) refuse_model("the last axis has " + std::to_string(parts) + " elements");
  if (length < 1) refuse_model("a transform of length " + std::to_string(length));
  if (transform.onesided && !transform.inverse && parts == 2)
    refuse_model("a one-sided transform of complex numbers");
  DftMatrix matrix{transform, length, shape[axis], parts, length, 2};
  if (transform.onesided && transform.inverse) matrix.to_parts = 1;
  if (transform.onesided && !transform.inverse) matrix.to = length / 2 + 1;

  Ints order;  // the axis before the last one
  for (size_t i = 0; i + 1 < shape.size(); ++i)
    if (i != axis) order.push_back(static_cast<int64_t>(i));
  order.push_back(static_cast<int64_t>(axis));
  order.push_back(static_cast<int64_t>(shape.size()) - 1);
  const ValueId moved = body.transpose(x, order);
  Shape out = body.shape(moved);
  const int64_t rows = product(out, 0, out.size() - 2);
  const ValueId flat = body.reshape(moved, {rows, shape[axis] * parts});
  const ValueId y = body.add("MatMul", {flat, body.constant(matrix.make(body.type(x).dtype))});
  out[out.size() - 2] = matrix.to;
  out.back() = matrix.to_parts;
  Ints back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return body.transpose(body.reshape(y, out), back);
}

int64_t scalar_input(const Body& body, size_t i, std::string_view what) {
  const Ints values = constant_ints(body.rule_inputs(), i, what);
  if (values.size() != 1)
    refuse_model("'" + std::string(what) + "' has " + std::to_string(values.size()) + " values");
  return values[0];
}

const Shape& signal_shape(const Body& body, std::string_view what) {
  const TensorType& type = float_input_type(body.rule_inputs(), 0, what);
  if (type.shape.size() < 2) refuse_model("'" + std::string(what) + "' has fewer than two dimensions");
  return type.shape;
}

void dft(Body& body, const Transform& transform, std::optional<int64_t> axis_attribute) {
  const Shape shape = signal_shape(body, "input");
  const int64_t chosen = axis_attribute      ? *axis_attribute
                         : body.has_input(2) ? scalar_input(body, 2, "axis")
                                             : -2;
  const size_t axis = normalize_axis(chosen, shape.size());
  if (axis + 1 == shape.size()) refuse_model("a transform along the axis of real and imaginary parts");
  const bool mirrored = transform.inverse && transform.onesided;
  const int64_t length = body.has_input(1) ? scalar_input(body, 1, "dft_length")
                         : mirrored        ? 2 * (shape[axis] - 1)
                                           : shape[axis];
  body.output(transformed(body, body.input(0, "input"), axis, length, transform));
}

void stft(Body& body, const Transform& transform) {
  Shape shape = signal_shape(body, "signal");
  if (shape.size() == 2) shape.push_back(1);  // torch's exporter writes real signals without the last dimension
  if (shape.size() != 3) refuse_model("the signal has shape " + to_string(shape));
  const int64_t step = scalar_input(body, 1, "frame_step");
  const int64_t window = body.has_input(2) ? element_count(body.shape(body.input(2, "window"))) : shape[1];
  const int64_t length = body.has_input(3) ? scalar_input(body, 3, "frame_length") : window;
  if (step < 1 || length < 1 || length > shape[1] || (body.has_input(2) && window != length))
    refuse_model("frames of " + std::to_string(length) + " by steps of " + std::to_string(step) +
                 " and a window of " + std::to_string(window) + " for a signal of " + to_string(shape));
  const int64_t frames = (shape[1] - length) / step + 1;
  Ints places(Body::table_size({frames, length}));
  for (size_t i = 0; i < places.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    places[i] = at / length * step + at % length;
  }
  const ValueId gathered =
      body.add("Gather", {body.input(0, "signal"), body.ints(places)}, {{"axis", int64_t{1}}});
  ValueId framed = body.reshape(gathered, {shape[0], frames, length, shape[2]});
  if (body.has_input(2))
    framed = body.add("Mul", {framed, body.reshape(body.input(2, "window"), {length, 1})});
  body.output(transformed(body, framed, 2, length, transform));
}

}  // namespace

std::shared_ptr<const Operator> make_dft(const NodeSpec& spec) {
  const Transform transform{get_flag(*spec.attributes, "inverse", false),
                            get_flag(*spec.attributes, "onesided", false)};
  std::optional<int64_t> axis;
  if (spec.opset < 20) axis = spec.attributes->get_int("axis", 1);
  return composed(spec, [=](Body& body) { dft(body, transform, axis); });
}

std::shared_ptr<const Operator> make_stft(const NodeSpec& spec) {
  const Transform transform{false, get_flag(*spec.attributes, "onesided", true)};
  return composed(spec, [=](Body& body) { stft(body, transform); });
}

}  // namespace vellum

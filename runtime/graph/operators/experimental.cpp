// Operators that ONNX had as experiments before version 1.3, and that Microsoft's converter of the time
// wrote. https://github.com/onnx/onnx/blob/rel-1.2.3/docs/Operators.md#experimental
#include "graph/composed.hpp"

namespace vellum {
namespace {

double number(const NodeSpec& spec, std::string_view name, float fallback = 1.0f) {
  return static_cast<double>(spec.attributes->get_float(name, fallback));
}

ValueId scaled(Body& body, ValueId x, double factor) {
  return body.add("Mul", {x, body.scalar(body.type(x).dtype, factor)});
}

const Shape& picture_shape(const Body& body) {
  const Shape& shape = float_input_type(body.rule_inputs(), 0, "input").shape;
  if (shape.size() != 4) refuse_model("the input has shape " + to_string(shape));
  return shape;
}

}  // namespace

std::shared_ptr<const Operator> make_affine(const NodeSpec& spec) {
  return composed(spec, [alpha = number(spec, "alpha"), beta = number(spec, "beta", 0.0f)](Body& body) {
    const ValueId product = scaled(body, body.input(0, "X"), alpha);
    body.output(body.add("Add", {product, body.scalar(body.type(product).dtype, beta)}));
  });
}

std::shared_ptr<const Operator> make_image_scaler(const NodeSpec& spec) {
  return composed(
      spec, [scale = number(spec, "scale"), bias = spec.attributes->get_floats("bias")](Body& body) {
        const auto channels = static_cast<int64_t>(bias.size());
        if (picture_shape(body)[1] != channels)
          refuse_model(std::to_string(channels) + " biases for " + std::to_string(picture_shape(body)[1]) +
                       " channels");
        const ValueId product = scaled(body, body.input(0, "input"), scale);
        const DType dtype = body.type(product).dtype;
        body.output(body.add(
            "Add", {product, body.constant(HostTensor::from<float>(dtype, {channels, 1, 1}, bias))}));
      });
}

// `border`: what goes at the left, top, right and bottom; with `scale`, the height and width that stay.
std::shared_ptr<const Operator> make_crop(const NodeSpec& spec) {
  const Ints border = spec.attributes->get_ints("border"), size = spec.attributes->get_ints("scale");
  if (border.size() != 4 || (!size.empty() && size.size() != 2))
    refuse_model("border has " + std::to_string(border.size()) + " elements, and scale " +
                 std::to_string(size.size()));
  return composed(spec, [=](Body& body) {
    const Shape shape = picture_shape(body);
    ValueId x = body.input(0, "input");
    for (const size_t axis : {size_t{2}, size_t{3}}) {
      const size_t edge = axis == 2 ? 1 : 0;
      const int64_t begin = border[edge];
      const int64_t end = size.empty() ? shape[axis] - border[edge + 2] : begin + size[axis - 2];
      if (begin < 0 || end > shape[axis] || begin >= end)
        refuse_model("positions " + std::to_string(begin) + " to " + std::to_string(end) + " of " +
                     std::to_string(shape[axis]));
      x = body.slice(x, static_cast<int64_t>(axis), begin, end);
    }
    body.output(x);
  });
}

// alpha tanh(beta x)
std::shared_ptr<const Operator> make_scaled_tanh(const NodeSpec& spec) {
  return composed(spec, [alpha = number(spec, "alpha"), beta = number(spec, "beta")](Body& body) {
    const ValueId x = scaled(body, body.input(0, "input"), beta);
    body.output(scaled(body, body.add("Tanh", {x}), alpha));
  });
}

// alpha log(1 + exp(beta x))
std::shared_ptr<const Operator> make_parametric_softplus(const NodeSpec& spec) {
  return composed(spec, [alpha = number(spec, "alpha"), beta = number(spec, "beta")](Body& body) {
    const ValueId x = scaled(body, body.input(0, "X"), beta);
    body.output(scaled(body, body.add("Softplus", {x}), alpha));
  });
}

}  // namespace vellum

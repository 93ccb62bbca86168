// Swish and SwiGLU. https://onnx.ai/onnx/operators/onnx__Swish.html, onnx__SwiGLU.html
#include "graph/composed.hpp"
#include "graph/operators/elementwise/unary.hpp"

namespace vellum {
namespace {

// x * sigmoid(alpha * x)
ValueId swish(Body& body, ValueId x, float alpha) {
  if (alpha == 1.0f) return body.add("Silu", {x});
  const ValueId scaled = body.add("Mul", {x, body.scalar(body.type(x).dtype, static_cast<double>(alpha))});
  return body.add("Mul", {x, body.add("Sigmoid", {scaled})});
}

}  // namespace

std::shared_ptr<const Operator> make_swish(const NodeSpec& spec) {
  const float alpha = spec.attributes->get_float("alpha", 1.0f);
  if (alpha == 1.0f) {  // an activation, which fuses as others do
    auto op = std::make_shared<Unary>();
    op->activation = {ActivationKind::silu};
    return op;
  }
  return composed(spec, [alpha](Body& body) { body.output(swish(body, body.input(0, "X"), alpha)); });
}

std::shared_ptr<const Operator> make_swiglu(const NodeSpec& spec) {
  const float alpha = spec.attributes->get_float("alpha", 1.0f);
  return composed(spec, [alpha](Body& body) {
    const ValueId gate = body.input(0, "A"), value = body.input(1, "B");
    if (body.shape(gate) != body.shape(value)) refuse_model("A and B differ in shape");
    body.output(body.add("Mul", {swish(body, gate, alpha), value}));
  });
}

}  // namespace vellum

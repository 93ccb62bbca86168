#include "graph/operators/cast.hpp"

#include "graph/onnx_types.hpp"

namespace vellum {

std::vector<TensorType> Cast::infer(Inputs inputs) const {
  const Shape& shape = input_type(inputs, 0, "input").shape;
  return {{to ? *to : input_type(inputs, 1, "target_type").dtype, shape}};
}

std::vector<HostTensor> Cast::evaluate(HostInputs inputs) const {
  return {cast(*inputs[0], infer_known(*this, inputs)[0].dtype)};
}

Attributes Cast::attributes() const {
  Attributes result;
  if (to) result.set("to", std::string(name(*to)));
  return result;
}

std::shared_ptr<const Operator> make_cast(const NodeSpec& spec) {
  auto op = std::make_shared<Cast>();
  // Both are for 8-bit floats only, which dtype_from_onnx() refuses.
  spec.attributes->ignore("saturate");
  spec.attributes->ignore("round_mode");
  if (spec.type == "Cast") {
    if (spec.opset < 6) refuse_unsupported("Cast to a type given by name (before opset 6)");
    if (!spec.attributes->has("to")) refuse_model("attribute 'to' is missing");
    op->to = dtype_from_onnx(spec.attributes->get_int("to", 0));
  }
  return op;
}

}  // namespace vellum

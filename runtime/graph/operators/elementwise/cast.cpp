#include "graph/operators/elementwise/cast.hpp"

#include <cmath>

#include "graph/onnx_types.hpp"

namespace vellum {

std::vector<TensorType> Cast::infer(Inputs inputs) const {
  const Shape& shape = input_type(inputs, 0, "input").shape;
  return {{to ? *to : input_type(inputs, 1, "target_type").dtype, shape}};
}

namespace {

// To the values of a narrow type: floats are rounded, of integers the lowest bits remain.
HostTensor cast_to_narrow(const NarrowType& type, const HostTensor& x, bool saturate) {
  const auto in = cast(x, DType::f64);
  std::vector<double> values(in.as<double>().begin(), in.as<double>().end());
  for (double& value : values) {
    if (type.format) {
      value = round_to(*type.format, value, saturate && type.bits == 8);
      continue;
    }
    const auto [low, high] = integer_range(type.stored, type.bits);
    const double whole = std::isfinite(value) ? std::trunc(value) : 0.0,
                 count = static_cast<double>(high - low + 1);
    value = whole - count * std::floor((whole - static_cast<double>(low)) / count);
  }
  return HostTensor::from<double>(type.stored, x.shape(), values);
}

}  // namespace

std::vector<HostTensor> Cast::evaluate(HostInputs inputs) const {
  if (narrow) return {cast_to_narrow(*narrow, *inputs[0], saturate)};
  return {cast(*inputs[0], infer_known(*this, inputs)[0].dtype)};
}

Attributes Cast::attributes() const {
  Attributes result;
  if (to) result.set("to", std::string(narrow ? narrow->name : name(*to)));
  return result;
}

std::shared_ptr<const Operator> make_cast(const NodeSpec& spec) {
  auto op = std::make_shared<Cast>();
  op->saturate = get_flag(*spec.attributes, "saturate", true);
  spec.attributes->ignore("round_mode");  // of float8e8m0 only, which dtype_from_onnx() refuses
  if (spec.type == "Cast") {
    if (spec.opset < 6) refuse_unsupported("Cast to a type given by name (before opset 6)");
    if (!spec.attributes->has("to")) refuse_model("attribute 'to' is missing");
    const int64_t to = spec.attributes->get_int("to", 0);
    op->to = dtype_from_onnx(to);
    op->narrow = find_narrow_type(to);
  }
  return op;
}

}  // namespace vellum

#include "graph/operators/reduction/lp_normalization.hpp"

#include <cmath>

#include "graph/node_spec.hpp"

namespace vellum {

std::vector<TensorType> LpNormalization::infer(Inputs inputs) const {
  const TensorType& x = float_input_type(inputs, 0, "input");
  normalize_axis(axis, x.shape.size());
  return {x};
}

std::vector<HostTensor> LpNormalization::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const size_t at = normalize_axis(axis, type.shape.size());
  const int64_t outer = product(type.shape, 0, at), length = type.shape[at];
  const int64_t inner = product(type.shape, at + 1, type.shape.size());
  HostTensor y = cast(*inputs[0], DType::f32);
  float* values = y.mutable_as<float>().data();
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      float* row = values + o * length * inner + i;
      double norm = 0.0;
      for (int64_t k = 0; k < length; ++k)
        norm += std::pow(std::fabs(static_cast<double>(row[k * inner])), p);
      norm = std::pow(norm, 1.0 / static_cast<double>(p));
      // A row of zeros stays zero.
      for (int64_t k = 0; k < length && norm > 0.0; ++k)
        row[k * inner] = static_cast<float>(row[k * inner] / norm);
    }
  }
  return {cast(y, type.dtype)};
}

Attributes LpNormalization::attributes() const {
  Attributes result;
  result.set("axis", axis);
  result.set("p", p);
  return result;
}

std::shared_ptr<const Operator> make_lp_normalization(const NodeSpec& spec) {
  auto op = std::make_shared<LpNormalization>();
  op->axis = spec.attributes->get_int("axis", -1);
  op->p = spec.attributes->get_int("p", 2);
  if (op->p != 1 && op->p != 2) refuse_model("the norm p is " + std::to_string(op->p));
  return op;
}

}  // namespace vellum

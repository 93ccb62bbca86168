#include "graph/operators/movement/transpose.hpp"

namespace vellum {

std::vector<size_t> Transpose::permutation(size_t rank) const {
  std::vector<size_t> result;
  if (!perm) {
    for (size_t i = rank; i-- > 0;) result.push_back(i);
    return result;
  }
  std::vector<bool> seen(rank, false);
  for (const int64_t axis : *perm) {
    if (axis < 0 || axis >= static_cast<int64_t>(rank) || seen[static_cast<size_t>(axis)]) {
      refuse_model("perm [" + to_string(Shape(*perm)) + "] is not a permutation of " + std::to_string(rank) +
                   " axes");
    }
    seen[static_cast<size_t>(axis)] = true;
    result.push_back(static_cast<size_t>(axis));
  }
  if (result.size() != rank) {
    refuse_model("perm has " + std::to_string(result.size()) + " axes, the input has " +
                 std::to_string(rank));
  }
  return result;
}

std::vector<TensorType> Transpose::infer(Inputs inputs) const {
  const TensorType& x = input_type(inputs, 0, "data");
  TensorType y{x.dtype, {}};
  for (const size_t axis : permutation(x.shape.size())) y.shape.push_back(x.shape[axis]);
  return {y};
}

std::vector<HostTensor> Transpose::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const auto dense = row_major_strides(inputs[0]->shape());
  std::vector<int64_t> strides;
  for (const size_t axis : permutation(dense.size())) strides.push_back(dense[axis]);
  return {gather_strided(*inputs[0], type.shape, strides, 0)};
}

Attributes Transpose::attributes() const {
  Attributes result;
  if (perm) result.set("perm", *perm);
  return result;
}

std::shared_ptr<const Operator> make_transpose(const NodeSpec& spec) {
  auto op = std::make_shared<Transpose>();
  op->perm = optional_ints(*spec.attributes, "perm");
  return op;
}

}  // namespace vellum

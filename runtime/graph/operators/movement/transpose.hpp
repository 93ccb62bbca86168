// Permutation of dimensions. https://onnx.ai/onnx/operators/onnx__Transpose.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Output dimension i is input dimension permutation[i]. Any dtype.
struct Transpose : Operator {
  std::optional<Ints> perm;  // default: the axes reversed

  // Returns perm for an input of `rank` dimensions, checked and with the default applied.
  std::vector<size_t> permutation(size_t rank) const;

  std::string_view type() const override { return "Transpose"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

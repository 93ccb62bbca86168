// Einstein summation. https://onnx.ai/onnx/operators/onnx__Einsum.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Sums of products over named dimensions: "bij,bjk->bik". "..." stands for dimensions that broadcast.
struct Einsum : Operator {
  std::string equation;

  // The terms for inputs of known rank, with one label for each dimension. Dimensions under "..." get unique
  // labels, assigned from the last dimension backwards.
  struct Terms {
    std::vector<std::string> inputs;
    std::string output, summed;
  };
  Terms terms(Inputs inputs) const;

  // Loops over the dimensions of the output and over the summed dimensions, with the strides of each input.
  struct Loops {
    Shape output, summed;
    std::vector<std::vector<int64_t>> output_strides, summed_strides;
  };
  Loops loops(Inputs inputs) const;

  std::string_view type() const override { return "Einsum"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

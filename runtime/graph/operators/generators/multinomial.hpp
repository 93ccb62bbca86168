// Multinomial: draws classes by their probabilities. https://onnx.ai/onnx/operators/onnx__Multinomial.html
#pragma once

#include <cstdint>

#include "graph/operator_support.hpp"

namespace vellum {

// Input: logarithms of probabilities of shape {batch, classes}, which need not be normalised. Output:
// {batch, samples}, the index of the largest x[class] + G for each sample, where G are independent numbers of
// the standard Gumbel distribution (E. J. Gumbel, 1954). They are a function of the seed, the positions of
// the class and of the sample, and the bits of x[class] (gumbel()): equal inputs give equal samples, other
// inputs give independent ones. A step of a decoder therefore needs no counter.
struct Multinomial : Operator {
  int64_t samples = 1;
  uint32_t seed = 0;
  DType dtype = DType::i32;

  std::string_view type() const override { return "Multinomial"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  Attributes attributes() const override;
};

// Returns the number for a class. `index`: of the class in the whole input.
float gumbel(uint32_t seed, float x, uint32_t index, uint32_t sample);

}  // namespace vellum

// A convolution of integers whose exact sums are multiplied by a scale that is computed at run time.
#pragma once

#include "graph/operators/conv/conv.hpp"

namespace vellum {

// Inputs X, W and B are those of a Conv, float32; X and W hold integers from -255 to 255. X may be a matrix:
// then its rows are pixels, and W is (M, C, 1, 1). Input 3 has the bits of a scale, int32 of shape {1}
// (DynamicSteps). Input 4 has a constant factor for each of the M channels.
//
//   y = activation(sum * (scale * factor[m]) + B[m])
//
// The sum is exact, and each operation after it rounds to fp32, as with ConvInteger, Cast, Mul and Add in the
// file. With bias_in_steps the bias is an integer, which the file adds before Cast:
//
//   y = activation((sum + floor(B[m] / (scale * factor[m]))) * (scale * factor[m]))
//
// Not an ONNX operator: the pass fuse_dynamic_quantization makes it.
struct ScaledConv : Operator {
  Conv conv;
  Activation activation;
  bool bias_in_steps = false;

  // Returns the types of X and W with at least three dimensions each.
  static std::vector<OperatorInput> conv_inputs(Inputs inputs);

  std::string_view type() const override { return "ScaledConv"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override;
  std::shared_ptr<const Operator> with_activation(const Activation& added) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

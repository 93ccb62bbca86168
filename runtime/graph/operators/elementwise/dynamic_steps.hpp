// The integers and the scale that DynamicQuantizeLinear chooses, in the form that ScaledConv reads.
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Input x, floats of at most four dimensions. Output 0 has the integers of DynamicQuantizeLinear(x) less
// their zero point, as floats: -255 to 255. Output 1 has the bits of the scale, an fp32 number whatever the
// precision of other tensors: int32 of shape {1}. Not an ONNX operator: the pass fuse_dynamic_quantization
// makes it.
struct DynamicSteps : Operator {
  std::string_view type() const override { return "DynamicSteps"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
};

}  // namespace vellum

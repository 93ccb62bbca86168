// The integers and the scale of a tensor that is quantised at run time, in the form that ScaledConv reads.
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// How integers are chosen for the numbers of x. LiteRT's two forms are those of its hybrid kernels:
// SymmetricQuantizeFloats() and AsymmetricQuantizeFloats() in tflite/kernels/internal/reference/
// portable_tensor_utils.cc. They multiply by the inverse of the scale, and round halves away from zero.
enum class StepsForm : uint8_t {
  bytes,         // DynamicQuantizeLinear: 0 to 255
  symmetric,     // LiteRT's -127 to 127
  signed_bytes,  // LiteRT's -128 to 127, with a zero point
};

// Input x, floats of at most four dimensions. Output 0 has the integers of x less their zero point, as
// floats: -255 to 255. Output 1 has the bits of the scale, an fp32 number whatever the precision of other
// tensors: int32 of shape {1}. Not an ONNX operator: the pass fuse_dynamic_quantization and the importer of
// TFLite files make it.
struct DynamicSteps : Operator {
  StepsForm form = StepsForm::bytes;

  std::string_view type() const override { return "DynamicSteps"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

// Quantises a tensor at run time: returns its integers and its scale in the form that ScaledConv reads.
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// The range and rounding of the integers. The two forms of LiteRT are the forms of its hybrid kernels:
// SymmetricQuantizeFloats() and AsymmetricQuantizeFloats() in tflite/kernels/internal/reference/
// portable_tensor_utils.cc. They multiply by the inverse of the scale, and round ties away from zero.
enum class StepsForm : uint8_t {
  bytes,         // DynamicQuantizeLinear: 0 to 255
  symmetric,     // LiteRT's -127 to 127
  signed_bytes,  // LiteRT's -128 to 127, with a zero point
};

// Input x: floats of at most four dimensions. Output 0: the integers of x minus their zero point, as floats
// from -255 to 255. Output 1: the bits of the scale, int32 of shape {1}. The scale is fp32 in sessions of
// every precision. Not an ONNX operator: the pass fuse_dynamic_quantization and the importer of TFLite files
// make it.
struct DynamicSteps : Operator {
  StepsForm form = StepsForm::bytes;

  std::string_view type() const override { return "DynamicSteps"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

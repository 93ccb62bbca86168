// Padding and cropping. https://onnx.ai/onnx/operators/onnx__Pad.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

enum class PadMode : uint8_t { constant, reflect, edge, wrap };

// One entry per dimension; negative amounts crop.
struct PadAmounts {
  Ints begin, end;
  Shape output;
};

// Inputs data, pads, constant_value, axes; pads and value are attributes before opset 11. Any dtype.
struct Pad : Operator {
  PadMode mode = PadMode::constant;
  std::optional<Ints> pads;
  float value = 0.0f;  // used without input 2

  PadAmounts amounts(Inputs inputs) const;
  // Returns the element that mode constant pads with, in the data's dtype. Throws Error(unsupported) if only
  // a run determines it.
  HostTensor padding_value(Inputs inputs) const;

  std::string_view type() const override { return "Pad"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

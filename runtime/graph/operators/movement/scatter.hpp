// Writes updates to computed positions. https://onnx.ai/onnx/operators/onnx__ScatterElements.html,
// onnx__Scatter.html, onnx__ScatterND.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

enum class ScatterReduction : uint8_t { none, add, mul, max, min };

// Inputs data, indices, updates, all of one rank. For axis 0: data with data[indices[i][j]][j] =
// updates[i][j].
struct ScatterElements : Operator {
  int64_t axis = 0;
  ScatterReduction reduction = ScatterReduction::none;

  std::string_view type() const override { return "ScatterElements"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// Inputs data, indices whose last dimension holds index tuples into data, updates with one slice for each
// tuple.
struct ScatterND : Operator {
  ScatterReduction reduction = ScatterReduction::none;

  std::string_view type() const override { return "ScatterND"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

// Normalisations. https://onnx.ai/onnx/operators/onnx__BatchNormalization.html,
// onnx__InstanceNormalization.html, onnx__LayerNormalization.html, onnx__RMSNormalization.html,
// onnx__GroupNormalization.html, onnx__MeanVarianceNormalization.html, onnx__LRN.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Batch normalisation in inference form. Inputs X (N, C, ...), scale, B, mean, variance, each (C).
struct BatchNormalization : Operator {
  float epsilon = 1e-5f;
  Activation activation;

  std::string_view type() const override { return "BatchNormalization"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  std::shared_ptr<const Operator> with_activation(const Activation& added) const override;
  Attributes attributes() const override;
};

// Inputs input (N, C, ...), scale (C), B (C). Mean and variance are over the spatial dimensions of each (n,
// c).
struct InstanceNormalization : Operator {
  float epsilon = 1e-5f;
  Activation activation;

  std::string_view type() const override { return "InstanceNormalization"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  std::shared_ptr<const Operator> with_activation(const Activation& added) const override;
  Attributes attributes() const override;
};

// Inputs X, scale, B (optional). Mean and variance are over the dimensions from `axis` on; scale and B
// broadcast to X's shape. Outputs Y and, with output_count > 1, mean and 1 / standard deviation. Without
// `centred` it is RMSNormalization, which uses a mean of 0.
struct LayerNormalization : Operator {
  int64_t axis = -1;
  float epsilon = 1e-5f;
  bool centred = true;
  size_t output_count = 1;

  std::string_view type() const override { return centred ? "LayerNormalization" : "RMSNormalization"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// Inputs X (N, C, ...), scale, bias. Mean and variance are over the channels of each group. scale and bias
// have one element for each group (opset 18) or each channel (opset 21).
struct GroupNormalization : Operator {
  int64_t groups = 1;
  float epsilon = 1e-5f;
  Activation activation;

  std::string_view type() const override { return "GroupNormalization"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  std::shared_ptr<const Operator> with_activation(const Activation& added) const override;
  Attributes attributes() const override;
};

// (X - mean) / (standard deviation + 1e-9) over `axes`.
struct MeanVarianceNormalization : Operator {
  Ints axes{0, 2, 3};

  std::string_view type() const override { return "MeanVarianceNormalization"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// Local response normalisation across `size` neighbouring channels of (N, C, ...).
struct Lrn : Operator {
  float alpha = 1e-4f, beta = 0.75f, bias = 1.0f;
  int64_t size = 1;

  std::string_view type() const override { return "LRN"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

// Pools. https://onnx.ai/onnx/operators/onnx__MaxPool.html, onnx__AveragePool.html, onnx__LpPool.html,
// onnx__GlobalMaxPool.html, onnx__GlobalAveragePool.html, onnx__GlobalLpPool.html
#pragma once

#include "graph/operator_support.hpp"
#include "graph/operators/conv/window.hpp"

namespace vellum {

enum class PoolKind : uint8_t { max, average, lp };

// The integer arithmetic of average pools in a quantised model
// (tflite/kernels/internal/reference/integer_ops/pooling.h). x and the results are (integer - zero) * step. A
// step of 0: the model is not quantised.
struct FixedAverage {
  float step = 0.0f;
  int32_t zero = 0;
  explicit operator bool() const { return step != 0.0f; }
  // Returns the average, minus the zero point. `sum`: the sum of `count` integers, each minus the zero point.
  int32_t operator()(int32_t sum, int32_t count) const;
};

// Input X (N, C, spatial...). One to three spatial dimensions.
struct Pool : Operator {
  PoolKind kind = PoolKind::max;
  Window window;
  bool count_include_pad = false;  // average: the divisor counts padding
  int64_t p = 2;                   // lp: the norm
  bool with_indices = false;       // max: a second output, int64, the index of the maximum in X (flattened)
  bool column_major_indices = false;
  // MediaPipe's MaxPoolingWithArgmax2D: the second output is float32, the row-major index of the maximum in
  // its window, plus 0.1.
  bool window_indices = false;
  Activation activation;  // only for average
  FixedAverage fixed_average = {};
  bool averages_integers() const { return fixed_average && activation.bounds_steps_of(fixed_average.step); }

  WindowPlacement place(Inputs inputs) const;

  std::string_view type() const override;
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  std::shared_ptr<const Operator> with_activation(const Activation& added) const override;
  Attributes attributes() const override;

 private:
  template <typename Real>
  void pool_windows(const HostTensor& x, const WindowPlacement& windows, HostTensor& y,
                    std::span<int64_t> indices) const;
};

// Pools over all spatial dimensions: (N, C, spatial...) -> (N, C, 1...).
struct GlobalPool : Operator {
  PoolKind kind = PoolKind::max;
  int64_t p = 2;

  std::string_view type() const override;
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

// Reductions. https://onnx.ai/onnx/operators/onnx__ReduceMean.html and its siblings, onnx__ArgMax.html,
// onnx__ArgMin.html
#pragma once

#include "graph/operator_support.hpp"
#include "graph/operators/elementwise/fixed_multiplier.hpp"

namespace vellum {

enum class ReduceKind : uint8_t { mean, sum, max, min, prod, l1, l2, sum_square, log_sum, log_sum_exp };

// The integer arithmetic of a sum or a mean in a quantised model: x and the results are integers times their
// steps, and the result is multiply(sum, y). A y_step of 0: the reduction is computed in floats.
struct FixedMean {
  float x_step = 0.0f, y_step = 0.0f;
  FixedMultiplier y;
  explicit operator bool() const { return y_step != 0.0f; }
};
// Return the arithmetic of a mean and of a sum of `count` integers of 8 or 16 bits, as QuantizedMeanOrSum()
// in tflite/kernels/internal/reference/reduce.h computes them. Empty if sums may exceed the 24 bits of a
// float (65,793 integers of 8 bits, 512 of 16), or if the ratio of the steps is extreme.
FixedMean fixed_mean(float x_step, float y_step, int64_t count, int bits = 8);
FixedMean fixed_total(float x_step, float y_step, int64_t count, int bits = 8);

// The axes are an attribute or input 1, depending on operator and opset. Without axes all are reduced, or
// none with noop_with_empty_axes.
struct Reduce : Operator {
  ReduceKind kind = ReduceKind::mean;
  std::optional<Ints> axes;
  bool keep_dims = true;
  bool noop_with_empty_axes = false;
  FixedMean fixed_mean = {};

  // Returns the axes that are reduced, sorted.
  std::vector<size_t> reduced_axes(Inputs inputs) const;
  // Returns whether no axis is reduced. Then the results are the elements themselves, or for L1, L2,
  // SumSquare and LogSum a function of each element.
  bool keeps_elements(Inputs inputs) const;

  std::string_view type() const override;
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// Index (int64) of the largest or smallest element along `axis`.
struct ArgReduce : Operator {
  bool minimum = false;
  int64_t axis = 0;
  bool keep_dims = true;
  bool select_last_index = false;  // among equals

  std::string_view type() const override { return minimum ? "ArgMin" : "ArgMax"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

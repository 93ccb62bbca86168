// Operators that select by value, and masks. https://onnx.ai/onnx/operators/onnx__TopK.html,
// onnx__NonZero.html, onnx__Compress.html, onnx__OneHot.html, onnx__Trilu.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// The k largest (or smallest) elements along `axis`, in order, and their indices (int64). Equal elements are
// in order of their index.
struct TopK : Operator {
  int64_t axis = -1;
  std::optional<int64_t> k;  // known without input 1
  bool largest = true;

  std::string_view type() const override { return "TopK"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  Attributes attributes() const override;
};

// Indices of all elements that are not zero: (rank, count), int64. The count is data-dependent.
struct NonZero : Operator {
  std::string_view type() const override { return "NonZero"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<TensorType> infer_open(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
};

// Inputs input, condition (bool). Keeps the slices along `axis`, or without it the elements of the flattened
// input, whose condition is true. The length is data-dependent.
struct Compress : Operator {
  std::optional<int64_t> axis;

  std::string_view type() const override { return "Compress"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<TensorType> infer_open(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;

 private:
  // Returns the output's type with `length` along the axis.
  TensorType with_length(Inputs inputs, int64_t length) const;
};

// Inputs indices, depth, values (off, on). The output has a new dimension of size `depth` at `axis`.
struct OneHot : Operator {
  int64_t axis = -1;

  std::string_view type() const override { return "OneHot"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// The upper or lower triangle of each matrix, from diagonal k (input 1) on; zero elsewhere. Any dtype.
struct Trilu : Operator {
  bool upper = true;

  std::string_view type() const override { return "Trilu"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

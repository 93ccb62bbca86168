// Repeats and gathers elements. https://onnx.ai/onnx/operators/onnx__Expand.html, onnx__Tile.html,
// onnx__Gather.html, onnx__GatherElements.html, onnx__GatherND.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Inputs input, shape: the two broadcast together. Any dtype.
struct Expand : Operator {
  std::string_view type() const override { return "Expand"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
};

// Inputs input, repeats (one per dimension). Any dtype.
struct Tile : Operator {
  std::string_view type() const override { return "Tile"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
};

// Inputs data (any dtype), indices (int32 or int64, negative counts from the end): slices of data along
// `axis`, in the shape of indices.
struct Gather : Operator {
  int64_t axis = 0;

  std::string_view type() const override { return "Gather"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// Inputs data (any dtype), indices of the same rank. For axis 0: output[i][j][k] =
// data[indices[i][j][k]][j][k].
struct GatherElements : Operator {
  int64_t axis = 0;

  std::string_view type() const override { return "GatherElements"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// Inputs data (any dtype), indices whose last dimension holds index tuples into data. The first `batch_dims`
// dimensions of both are common.
struct GatherND : Operator {
  int64_t batch_dims = 0;

  std::string_view type() const override { return "GatherND"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// Throws Error(corrupt_model) unless `indices` is int32 or int64.
void require_indices(const TensorType& indices);
// Returns an index from a model, counted from 0, after checking it against a dimension of `size`. A negative
// index counts from the end.
int64_t checked_index(int64_t index, int64_t size);

}  // namespace vellum

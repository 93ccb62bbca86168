// https://onnx.ai/onnx/operators/onnx__Attention.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Elements of a tensor in another order: element (i, j, ...) is at offset + i * strides[0] + j * strides[1] +
// ...
struct StridedView {
  int64_t offset = 0;
  Shape shape;
  std::vector<int64_t> strides;
  bool operator==(const StridedView&) const = default;
};

// Scaled dot product attention, Y = softmax(scale * Q K^T + mask) V, for each image of a batch and each head.
//
// Inputs Q, K, V, mask (optional). Q, K and V are (batch, head, token, channel), or (batch, token, head *
// channel) with the number of heads as attributes; with `views` they are any tensors in which these views see
// (batch, head, token, channel). The heads of Q are a multiple of those of K and V, each of which serves
// several of Q in a row. A mask broadcasts to (batch, head, token of Q, token of K): floats are added to the
// scores, false excludes.
struct Attention : Operator {
  static constexpr int64_t kMostChannels =
      256;  // of a head that a kernel takes, which holds their sums in registers

  std::optional<float> scale;  // left out: 1 / sqrt(channels)
  bool causal = false;         // a token sees none behind it
  int64_t q_heads = 0, kv_heads = 0;
  std::optional<std::array<StridedView, 3>> views;
  bool tokens_first =
      false;     // with views: Y is (batch, token, head, channel) under any shape of as many elements
  Shape output;  // with views

  struct Operands {
    StridedView q, k, v;  // (batch, head, token, channel)
    bool tokens_first = false;
    Shape output;
    float scale = 1.0f;
  };
  Operands operands(Inputs inputs) const;

  std::string_view type() const override { return "Attention"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

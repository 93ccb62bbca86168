// Attention. https://onnx.ai/onnx/operators/onnx__Attention.html
#pragma once

#include "graph/byte_rows.hpp"
#include "graph/operator_support.hpp"
#include "graph/operators/elementwise/activation.hpp"

namespace vellum {

// A strided view of a tensor: element (i, j, ...) is at offset + i * strides[0] + j * strides[1] + ...
struct StridedView {
  int64_t offset = 0;
  Shape shape;
  std::vector<int64_t> strides;
  bool operator==(const StridedView&) const = default;
};

// Each element of an operand becomes the rounding of `factor` times itself. Nothing happens without a
// rounding.
struct OperandRounding {
  float factor = 1.0f;
  Activation rounding;  // it only rounds
  bool operator==(const OperandRounding&) const = default;
  explicit operator bool() const { return rounding.is_rounded(); }
};

// Each row of an operand, which is the channels of a token in a head, is divided by the root of the mean of
// its squares plus epsilon, and multiplied by factors.
struct OperandNorm {
  float epsilon = 0.0f;
  std::vector<float> factors;  // (head of the operand, channel); empty: the operand is not normalised
  bool operator==(const OperandNorm&) const = default;
  explicit operator bool() const { return !factors.empty(); }
};

// Throws Error(corrupt_model) unless the view has four dimensions and stays within a tensor of shape `input`.
void check_view(const StridedView& view, const Shape& input);

// Scaled dot product attention, Y = softmax(cap(scale * Q K^T) + mask) V, for each image of a batch and each
// head. cap(x) = softcap * tanh(x / softcap), or without a soft cap x.
//
// Inputs Q, K, V, mask (optional), lengths (optional), sinks (optional), key bias (optional). Q, K and V are
// (batch, head, token, channel), or (batch, token, head * channel) with the number of heads as attributes.
// With `views` they may have any shape, and the views give their (batch, head, token, channel) form. Q has a
// multiple of the heads of K and V; consecutive heads of Q share one head of K and V. A mask broadcasts to
// (batch, head, token of Q, token of K): floats are added to the scores, false excludes a key.
//
// With `lengths`, an integer for each image, K and V are caches. The tokens of Q may attend only to the first
// `length` tokens of K, and are the last of these tokens. Without lengths the tokens of Q are the first
// tokens of K.
//
// `sinks` has one element for each head of Q: a score beside those of the keys, whose weight belongs to no
// value.
//
// A key bias of floats, (1 or batch, head of Q, 1, token of K), is added to the scores beside a mask of
// floats, such as the slopes of ALiBi times the positions (Press et al., Train Short, Test Long, 2022): the
// sum of both would have an element for each head, query and key.
struct Attention : Operator {
  // The largest number of channels of a head that the kernel supports: it holds their sums in registers.
  static constexpr int64_t kMostChannels = 256;
  // The largest number of keys where weights are rounded: one invocation reads all of them, twice.
  static constexpr int64_t kMostRoundedKeys = 4096;

  std::optional<float> scale;  // default: 1 / sqrt(channels)
  float softcap = 0.0f;        // 0: none
  bool causal = false;         // a token attends to itself and earlier tokens only
  int64_t window = 0;          // with lengths: the tokens that a token attends to, itself included; 0: all
  int64_t q_heads = 0, kv_heads = 0;
  std::optional<std::array<StridedView, 3>> views;
  // Other than floats: K and V are caches in words, i32 (graph/byte_rows.hpp), of which attention takes the
  // numbers. Only with views, in which the offset and strides of K and V are in words, except along the
  // channels.
  RowFormat cache_rows = RowFormat::floats;
  bool has_word_caches() const { return cache_rows != RowFormat::floats; }
  // With views, Y is (batch, token, head, channel) if tokens_first, else (batch, head, token, channel),
  // reshaped to `output`.
  bool tokens_first = false;
  Shape output;
  // Quantised models round the scores before the mask is added, and the weights of the values. An empty
  // activation does not round; the others only round (Activation::only_rounds()). Attention that rounds
  // scores rounds weights, too, and has no lengths, soft cap, sinks or key bias.
  Activation score_rounding, weight_rounding;
  // They may also scale and round Q and K before the product of both, only if they round the weights.
  OperandRounding q_rounding, k_rounding;
  // Q and K may be normalised before their product (attention by cosines), where none of both is rounded.
  OperandNorm q_norm, k_norm;

  struct Operands {
    StridedView q, k, v;  // (batch, head, token, channel); k and v in words as in `views`
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

 private:
  void check_norms(const Operands& o) const;
  void check_key_bias(Inputs inputs, const Operands& o) const;
};

}  // namespace vellum

// A small decoder like Llama's, with seeded weights: as an ONNX model with caches of fixed capacity, and in
// double.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/onnx_builder.hpp"

namespace vellum::test {

struct DecoderShape {
  int64_t layers = 2, heads = 4, kv_heads = 2, channels = 8, hidden = 48, vocabulary = 61, capacity = 80;
  int64_t width() const { return heads * channels; }
  int64_t kv_width() const { return kv_heads * channels; }
};

// How the model attends. All but the first and the last have caches that grow.
enum class DecoderForm : uint8_t {
  group_query,        // com.microsoft.GroupQueryAttention, with rotary embeddings and attention_mask
  group_query_grows,  // the same, but past and present differ in length, and batch and channels are open
  group_query_sinks,  // the same with head sinks, and with caches of a window in the first layer
  concatenation,   // as torch exports it: past and new tokens are concatenated, positions follow from shapes
  attention,       // the same, but ONNX's Attention concatenates
  tensor_scatter,  // ONNX's TensorScatter and Attention with nonpad_kv_seqlen; without rotary embeddings
};

class Decoder {
 public:
  Decoder(const DecoderShape& shape, DecoderForm form);

  // Inputs: input_ids {1, T} and past.N.key, past.N.value; of group_query attention_mask {1, capacity}, with
  // growing caches attention_mask {1, all tokens}, of tensor_scatter write_indices {1} and lengths {1}.
  // Outputs: next {1, T}, present.N.key, present.N.value.
  OnnxModel model() const;
  // The tokens that follow the prompt, each with the largest logit after all before it.
  std::vector<int64_t> generate(const std::vector<int64_t>& prompt, size_t count) const;
  const DecoderShape& shape() const { return shape_; }
  bool grows() const { return form_ != DecoderForm::group_query && form_ != DecoderForm::tensor_scatter; }

 private:
  bool has_groups() const {
    return form_ == DecoderForm::group_query || form_ == DecoderForm::group_query_grows || has_sinks();
  }
  bool has_sinks() const { return form_ == DecoderForm::group_query_sinks; }
  // The tokens that a token of the layer attends to; 0: all.
  int64_t window(int64_t layer) const { return has_sinks() && layer == 0 ? 16 : 0; }
  using Row = std::vector<double>;
  const HostTensor& weight(const std::string& name) const { return weights_.at(name); }
  Row times(const Row& x, const std::string& matrix) const;
  Row normalized(const Row& x, const std::string& scale) const;
  void turn(Row& heads, int64_t position) const;
  Row attend(int64_t layer, const Row& q, const std::vector<Row>& keys, const std::vector<Row>& values) const;
  void add_shared_nodes(OnnxModel& model) const;  // of growing caches: positions, cosines, sines and the mask
  std::string rotated(OnnxModel& model, const std::string& heads) const;
  std::string growing_attention(OnnxModel& model, const std::string& layer) const;
  std::string attention_nodes(OnnxModel& model, const std::string& layer, const std::string& x) const;

  DecoderShape shape_;
  DecoderForm form_;
  std::map<std::string, HostTensor> weights_;
};

}  // namespace vellum::test

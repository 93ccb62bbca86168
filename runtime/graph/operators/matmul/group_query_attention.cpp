// GroupQueryAttention of com.microsoft: attention with a cache of keys and values, and rotary embeddings.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.GroupQueryAttention
#include <algorithm>
#include <cmath>
#include <vector>

#include "graph/composed.hpp"
#include "graph/operators/contrib_rows.hpp"
#include "graph/operators/matmul/heads.hpp"

namespace vellum {
namespace {

struct GroupForm {
  int64_t heads = 0, kv_heads = 0;
  int64_t window = -1;  // keys that a query attends to, its own included; -1: all before it
  float scale = 0.0f, softcap = 0.0f;
  bool turns = false;  // by rotary embeddings
  int64_t interleaved = 0;
};

// Attention of new tokens to those in a cache and to each other, in their order. With one batch, or before
// anything is cached, the places of the new tokens in the cache follow from the shapes and
// total_sequence_length; else each batch has places of its own.
class GroupQueryBody {
 public:
  GroupQueryBody(Body& body, const GroupForm& form) : body_(body), form_(form) {}

  void build() {
    split();
    place_tokens();
    if (form_.turns) {
      q_ = turned(q_);
      k_ = turned(k_);
    }
    const ValueId keys = cached(k_, kPastKey, "past_key"), values = cached(v_, kPastValue, "past_value");
    body_.output(join_heads(body_, attend(keys, values)));
    body_.output(keys);
    body_.output(values);
  }

 private:
  enum Input : size_t {
    kQuery,
    kKey,
    kValue,
    kPastKey,
    kPastValue,
    kLengths,  // of each batch with its new tokens, less one
    kTotal,    // the most of these lengths
    kCosines,
    kSines,
    kPositions,
    kBias,
  };

  void split() {
    ValueId q = body_.input(kQuery, "query"), k = body_.optional_input(kKey),
            v = body_.optional_input(kValue);
    if (k == kNoValue) {
      const Shape shape = body_.shape(q);
      const int64_t parts = form_.heads + 2 * form_.kv_heads;
      if (shape.size() != 3 || shape[2] % parts != 0)
        refuse_model("query of shape " + to_string(shape) + " has no " + std::to_string(parts) + " heads");
      const int64_t width = shape[2] / parts, to_keys = form_.heads * width;
      const int64_t to_values = to_keys + form_.kv_heads * width;
      v = body_.slice(q, 2, to_values, shape[2]);
      k = body_.slice(q, 2, to_keys, to_values);
      q = body_.slice(q, 2, 0, to_keys);
    }
    q_ = split_heads(body_, q, form_.heads, "query");
    k_ = split_heads(body_, k, form_.kv_heads, "key");
    v_ = split_heads(body_, v, form_.kv_heads, "value");
    batches_ = body_.shape(q_)[0];
    tokens_ = body_.shape(q_)[2];
  }

  void place_tokens() {
    const Ints total = constant_ints(body_.rule_inputs(), kTotal, "total_sequence_length");
    if (total.size() != 1) refuse_model("total_sequence_length is no scalar");
    if (body_.has_input(kPastKey) != body_.has_input(kPastValue))
      refuse_model("past_key and past_value go together");
    if (body_.has_input(kPastKey)) {
      const Shape past = body_.shape(body_.input(kPastKey, "past_key"));
      if (past.size() != 4) refuse_model("past_key has not four dimensions");
      past_ = past[2];
    }
    total_ = total[0];
    const bool begins = total_ == tokens_;
    before_ = total_ - tokens_;
    if (before_ < 0 || before_ > past_)
      refuse_model("total_sequence_length is " + std::to_string(total_) + " with " + std::to_string(tokens_) +
                   " new tokens and a cache of " + std::to_string(past_));
    if (batches_ == 1 || begins) return;
    const ValueId lengths = body_.cast(body_.input(kLengths, "seqlens_k"), DType::i64);
    if (body_.shape(lengths) != Shape{batches_}) refuse_model("seqlens_k has not one element for each batch");
    first_ = body_.add("Add", {lengths, body_.scalar(DType::i64, static_cast<double>(1 - tokens_))});
  }

  // The places of the new tokens in the cache, in the shape `by_batch` with the tokens in dimension `axis`.
  ValueId places(Shape by_batch, size_t axis) {
    Shape by_token(by_batch.size(), 1);
    by_token[axis] = tokens_;
    if (first_ == kNoValue) return counted(body_, by_token, before_);
    return body_.add("Add", {body_.reshape(first_, by_batch), counted(body_, by_token, 0)});
  }

  ValueId turned(ValueId x) {
    ValueId at = body_.optional_input(kPositions);
    if (at == kNoValue) at = body_.add("Expand", {places({batches_, 1}, 1), body_.ints({batches_, tokens_})});
    const ValueId cosines = body_.input(kCosines, "cos_cache");
    if (body_.shape(cosines).size() != 2) refuse_model("cos_cache is no matrix");
    return body_.add(
        "RotaryEmbedding", {x, cosines, body_.input(kSines, "sin_cache"), at},
        {{"interleaved", form_.interleaved}, {"rotary_embedding_dim", 2 * body_.shape(cosines)[1]}});
  }

  // The cache with the new tokens: as long as before, or as all tokens.
  ValueId cached(ValueId now, size_t before, std::string_view what) {
    const int64_t length = std::max(total_, past_);
    if (past_ == 0) return now;
    const ValueId past = body_.input(before, what);
    if (first_ == kNoValue) {
      std::vector<ValueId> parts;
      if (before_ > 0) parts.push_back(body_.slice(past, 2, 0, before_));
      parts.push_back(now);
      if (total_ < length) parts.push_back(body_.slice(past, 2, total_, length));
      return parts.size() == 1 ? now : body_.add("Concat", parts, {{"axis", int64_t{2}}});
    }
    ValueId whole = past;
    if (past_ < length) {
      Shape rest = body_.shape(past);
      rest[2] = length - past_;
      const std::vector<float> zeros(Body::table_size(rest));
      const ValueId end = body_.constant(HostTensor::from<float>(body_.type(past).dtype, rest, zeros));
      whole = body_.add("Concat", {past, end}, {{"axis", int64_t{2}}});
    }
    return body_.add("TensorScatter", {whole, now, first_}, {{"axis", int64_t{2}}});
  }

  // Which of all keys each query may attend to; none where these are all, or those up to its own.
  ValueId allowed() {
    const bool has_window = form_.window >= 0 && form_.window < total_;
    if (first_ == kNoValue && !has_window && (before_ == 0 || tokens_ == 1)) return kNoValue;
    const ValueId key = counted(body_, {1, 1, 1, total_}, 0), place = places({batches_, 1, 1, 1}, 2);
    const ValueId until = body_.add("LessOrEqual", {key, place});
    if (!has_window) return until;
    const ValueId begin =
        body_.add("Sub", {place, body_.scalar(DType::i64, static_cast<double>(form_.window))});
    return body_.add("And", {until, body_.add("Greater", {key, begin})});
  }

  ValueId attend(ValueId keys, ValueId values) {
    const auto until_total = [&](ValueId x) {
      return body_.shape(x)[2] == total_ ? x : body_.slice(x, 2, 0, total_);
    };
    const ValueId places = allowed();
    const int64_t causal = places == kNoValue && tokens_ > 1 ? 1 : 0;
    ValueId mask = places;
    if (body_.has_input(kBias)) {
      const ValueId bias = body_.input(kBias, "attention_bias");
      const DType dtype = body_.type(bias).dtype;
      mask = places == kNoValue ? bias : body_.add("Where", {places, bias, body_.scalar(dtype, -INFINITY)});
    }
    std::vector<ValueId> inputs{q_, until_total(keys), until_total(values)};
    if (mask != kNoValue) inputs.push_back(mask);
    return body_.add("Attention", inputs,
                     {{"scale", form_.scale}, {"softcap", form_.softcap}, {"is_causal", causal}});
  }

  Body& body_;
  const GroupForm& form_;
  ValueId q_ = kNoValue, k_ = kNoValue, v_ = kNoValue;  // (batch, head, token, channel)
  int64_t batches_ = 0, tokens_ = 0, past_ = 0, total_ = 0;
  int64_t before_ = 0;        // tokens of the cache, where first_ is none
  ValueId first_ = kNoValue;  // the place of each batch's first new token, if not the same for all
};

}  // namespace

std::shared_ptr<const Operator> make_group_query_attention(const NodeSpec& spec) {
  const Attributes& a = *spec.attributes;
  const GroupForm form{.heads = a.get_int("num_heads", 0),
                       .kv_heads = a.get_int("kv_num_heads", 0),
                       .window = a.get_int("local_window_size", -1),
                       .scale = a.get_float("scale", 0.0f),
                       .softcap = a.get_float("softcap", 0.0f),
                       .turns = get_flag(a, "do_rotary", false),
                       .interleaved = a.get_int("rotary_interleaved", 0)};
  constexpr int64_t kMostHeads = 1 << 20;
  if (form.kv_heads <= 0 || form.heads < form.kv_heads || form.heads > kMostHeads ||
      form.heads % form.kv_heads != 0)
    refuse_model("num_heads is no multiple of kv_num_heads");
  constexpr size_t kHeadSink = 11;
  if (get_flag(a, "smooth_softmax", false) || spec.has_input(kHeadSink))
    refuse_unsupported("GroupQueryAttention with a smooth softmax or head sinks");
  if (spec.output_count > 3 || a.get_int("qk_output", 0) != 0)
    refuse_unsupported("GroupQueryAttention with its scores");
  for (const char* quantised : {"k_quant_type", "v_quant_type"})
    if (a.get_string(quantised, "NONE") != "NONE") refuse_unsupported("GroupQueryAttention with integers");
  return composed(spec, [form](Body& body) { GroupQueryBody(body, form).build(); });
}

}  // namespace vellum

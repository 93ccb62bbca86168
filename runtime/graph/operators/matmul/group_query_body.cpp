#include "graph/operators/matmul/group_query_body.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "graph/operators/matmul/attention.hpp"
#include "graph/operators/matmul/decomposed_attention.hpp"
#include "graph/operators/matmul/heads.hpp"
#include "graph/operators/matmul/rotate_channels.hpp"
#include "graph/operators/matmul/rotation_tables.hpp"

namespace vellum {
namespace group_query {
namespace {

class GroupQueryBody {
 public:
  GroupQueryBody(Body& body, const GroupForm& form) : body_(body), form_(form) {}

  void build() {
    split();
    place_tokens();
    q_ = normalised(q_, kQueryNorm, form_.q_epsilon);
    k_ = normalised(k_, kKeyNorm, form_.k_epsilon);
    if (form_.turns) {
      q_ = turned(q_);
      k_ = turned(k_);
    }
    const ValueId keys = cached(stored(k_, form_.keys, kKeyScale), kPastKey, "past_key"),
                  values = cached(stored(v_, form_.values, kValueScale), kPastValue, "past_value");
    scale_queries();
    body_.output(attend(loaded(keys, form_.keys), loaded(values, form_.values)));
    body_.output(keys);
    body_.output(values);
  }

 private:
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

  // ONNX Runtime's kernel writes the new tokens after the length that seqlens_k gives for each batch. A
  // prompt begins at 0, and shorter batches are padded at the end. total_sequence_length only determines the
  // new length of a cache that is too short.
  void place_tokens() {
    if (body_.has_input(kPastKey) != body_.has_input(kPastValue))
      refuse_model("past_key and past_value go together");
    if (body_.has_input(kPastKey)) {
      const Shape past = body_.shape(body_.input(kPastKey, "past_key"));
      if (past.size() != 4) refuse_model("past_key has not four dimensions");
      past_ = past[2];
    }
    const int64_t total = total_length();
    if (total < tokens_ || total - tokens_ > past_)
      refuse_model("total_sequence_length is " + std::to_string(total) + " with " + std::to_string(tokens_) +
                   " new tokens and a cache of " + std::to_string(past_));
    keys_ = std::max(total, past_);
    if (past_ == 0) return;
    ValueId lengths = body_.input(kLengths, "seqlens_k");
    if (element_count(body_.shape(lengths)) != batches_)
      refuse_model("seqlens_k has not one element for each batch");
    lengths = body_.reshape(lengths, {batches_});
    integer_ = body_.type(lengths).dtype;
    lengths_ = body_.add("Add", {lengths, body_.scalar(integer_, 1.0)});
    const ValueId tokens = body_.scalar(integer_, static_cast<double>(tokens_));
    if (tokens_ > 1) lengths_ = body_.add("Max", {lengths_, tokens});
    first_ = body_.add("Sub", {lengths_, tokens});
  }

  // Returns total_sequence_length, or the capacity of the cache if only a run determines it.
  int64_t total_length() const {
    const Inputs inputs = body_.rule_inputs();
    if (kTotal < inputs.size() && inputs[kTotal].present && !inputs[kTotal].constant)
      return std::max(past_, tokens_);
    const Ints total = constant_ints(inputs, kTotal, "total_sequence_length");
    if (total.size() != 1) refuse_model("total_sequence_length is no scalar");
    return total[0];
  }

  // Returns the positions of the new tokens in the cache, in the shape `by_batch` with the tokens in
  // dimension `axis`.
  ValueId places(Shape by_batch, size_t axis) {
    Shape by_token(by_batch.size(), 1);
    by_token[axis] = tokens_;
    if (first_ == kNoValue) return counted(body_, by_token, 0);
    const ValueId first = body_.reshape(first_, by_batch);
    if (tokens_ == 1) return first;
    return body_.add("Add", {first, body_.constant(cast(counted_from_zero(by_token), integer_))});
  }

  HostTensor counted_from_zero(const Shape& shape) const {
    Ints values(static_cast<size_t>(element_count(shape)));
    std::iota(values.begin(), values.end(), int64_t{0});
    return HostTensor::i64(shape, values);
  }

  ValueId turned(ValueId x) {
    const Ints partner = rotation_partners_of(body_.shape(x)[3]);
    if (!partner.empty()) return turned_by_table(x, partner);
    ValueId at = body_.optional_input(kPositions);
    if (at == kNoValue) {
      at = places({batches_, 1}, 1);
      if (body_.shape(at) != Shape{batches_, tokens_})
        at = body_.add("Expand", {at, body_.ints({batches_, tokens_})});
    }
    const ValueId cosines = body_.input(kCosines, "cos_cache");
    if (body_.shape(cosines).size() != 2) refuse_model("cos_cache is no matrix");
    return body_.add(
        "RotaryEmbedding", {x, cosines, body_.input(kSines, "sin_cache"), at},
        {{"interleaved", form_.interleaved}, {"rotary_embedding_dim", 2 * body_.shape(cosines)[1]}});
  }

  // Empty if RotateChannels cannot be used, because each batch has its own positions or the cosines are not
  // constants.
  Ints rotation_partners_of(int64_t channels) const {
    const HostTensor* cosines = constant(kCosines);
    const HostTensor* sines = constant(kSines);
    if (batches_ != 1 || channels % 4 != 0 || !cosines || !sines) return {};
    if (cosines->shape().size() != 2 || cosines->shape() != sines->shape()) return {};
    return rotation_partners(channels, cosines->shape()[1], form_.interleaved != 0);
  }

  const HostTensor* constant(size_t input) const {
    const Inputs inputs = body_.rule_inputs();
    return input < inputs.size() ? inputs[input].constant : nullptr;
  }

  ValueId turned_by_table(ValueId x, const Ints& partner) {
    if (table_ == kNoValue) {
      ValueId at = body_.optional_input(kPositions);
      if (at == kNoValue) at = places({1}, 0);
      at = body_.reshape(at, {tokens_});
      table_ = body_.add("Gather",
                         {body_.constant(rotation_tables(*constant(kCosines), *constant(kSines), partner,
                                                         form_.interleaved != 0)),
                          at},
                         {{"axis", int64_t{2}}});
    }
    auto op = std::make_shared<RotateChannels>();
    op->view = {0, body_.shape(x), row_major_strides(body_.shape(x))};
    op->partner = partner;
    op->output = body_.shape(x);
    return body_.add(op, {x, table_});
  }

  // Returns queries or keys after a root mean square norm of each head's channels, if the node has its
  // weight.
  ValueId normalised(ValueId x, GroupInput weight, float epsilon) {
    if (!body_.has_input(weight)) return x;
    return body_.add("RMSNormalization", {x, body_.input(weight, "norm weight")},
                     {{"axis", int64_t{-1}}, {"epsilon", epsilon}});
  }

  // New tokens as the cache stores them, and a cache as attention reads it. ONNX Runtime's kernel, too, reads
  // the rounded values of new tokens. Attention multiplies the integers: queries are multiplied by the scale
  // of the keys before it, and the result by the scale of the values.
  ValueId stored(ValueId x, const IntegerCache& cache, GroupInput scale) {
    return cache ? to_cache_integers(body_, cache, x, cache_scale(scale)) : x;
  }
  ValueId loaded(ValueId x, const IntegerCache& cache) {
    return cache ? cache_numbers(body_, cache, x, body_.type(q_).dtype) : x;
  }
  ValueId cache_scale(GroupInput scale) { return body_.input(scale, "scale of a cache"); }

  // Multiplies the queries by the scale of the keys, or leaves one known number to attention.
  void scale_queries() {
    if (!form_.keys) return;
    const HostTensor* known = constant(kKeyScale);
    const bool is_one = !form_.keys.per_channel && known != nullptr && known->elements() == 1;
    if (const float scale = is_one ? known->to_floats()[0] : 0.0f; std::isnormal(scale)) {
      key_scale_ = scale;
      return;
    }
    const int64_t channels = body_.shape(q_)[3];
    q_ = times_cache_scale(body_, form_.keys, q_, cache_scale(kKeyScale),
                           {form_.heads, form_.kv_heads, channels}, {1, form_.heads, 1, channels});
  }

  // The factor of the products of queries and keys. 0: the default of attention.
  float scale_of_scores() const {
    if (key_scale_ == 1.0f) return form_.scale;
    const auto channels = static_cast<float>(body_.shape(q_)[3]);
    return key_scale_ * (form_.scale != 0.0f ? form_.scale : 1.0f / std::sqrt(channels));
  }

  // Returns the cache with the new tokens. It is as long as before, or as long as all tokens.
  ValueId cached(ValueId now, size_t before, std::string_view what) {
    if (past_ == 0) return now;
    ValueId whole = body_.input(before, what);
    if (past_ < keys_) {
      Shape rest = body_.shape(whole);
      rest[2] = keys_ - past_;
      const std::vector<float> zeros(Body::table_size(rest));
      const ValueId end = body_.constant(HostTensor::from<float>(body_.type(whole).dtype, rest, zeros));
      whole = body_.add("Concat", {whole, end}, {{"axis", int64_t{2}}});
    }
    return body_.add("TensorScatter", {whole, now, first_}, {{"axis", int64_t{2}}});
  }

  // Returns the mask of the places and the bias in one; kNoValue if there is neither.
  ValueId joined_mask() {
    const ValueId places = mask_of_places(), given = bias();
    return places == kNoValue || given == kNoValue ? (given == kNoValue ? places : given)
                                                   : masked_by(places, given);
  }

  ValueId masked_by(ValueId places, ValueId mask) {
    if (mask == kNoValue) return places;
    return body_.add("Where", {places, mask, body_.scalar(body_.type(mask).dtype, -INFINITY)});
  }

  ValueId mask_of_places() {
    if (!places_) places_ = allowed();
    return *places_;
  }

  bool has_window() const { return form_.window >= 0 && form_.window < keys_; }

  // Returns which keys each query may attend to. kNoValue if these are all keys, or all keys up to the
  // query's own.
  ValueId allowed() {
    if (first_ == kNoValue && !has_window()) return kNoValue;
    const ValueId place = body_.cast(places({batches_, 1, 1, 1}, 2), DType::i64);
    const ValueId key = counted(body_, {1, 1, 1, keys_}, 0);
    const ValueId until = body_.add("LessOrEqual", {key, place});
    if (!has_window()) return until;
    const ValueId begin =
        body_.add("Sub", {place, body_.scalar(DType::i64, static_cast<double>(form_.window))});
    return body_.add("And", {until, body_.add("Greater", {key, begin})});
  }

  // Returns attention_bias, extended to all keys of the cache.
  ValueId bias() {
    if (!body_.has_input(kBias)) return kNoValue;
    const ValueId given = body_.input(kBias, "attention_bias");
    const TensorType type = body_.type(given);
    if (type.shape.empty() || type.shape.back() >= keys_ || type.shape.back() == 1) return given;
    Shape rest = type.shape;
    rest.back() = keys_ - type.shape.back();
    const std::vector<float> zeros(Body::table_size(rest));
    return body_.add("Concat", {given, body_.constant(HostTensor::from<float>(type.dtype, rest, zeros))},
                     {{"axis", int64_t{-1}}});
  }

  // Returns (batch, token, channels of all heads).
  ValueId attend(ValueId keys, ValueId values) {
    const ValueId y = attend_to(keys, values);
    if (!form_.values) return y;
    const int64_t channels = body_.shape(values)[3];
    return times_cache_scale(body_, form_.values, y, cache_scale(kValueScale),
                             {form_.heads, form_.kv_heads, channels}, {form_.heads * channels});
  }

  ValueId attend_to(ValueId keys, ValueId values) {
    if (body_.shape(values)[3] > Attention::kMostChannels) return attend_by_products(keys, values);
    auto op = std::make_shared<Attention>();
    if (const float scale = scale_of_scores(); scale != 0.0f) op->scale = scale;
    op->softcap = form_.softcap;
    if (first_ != kNoValue) return attend_to_cache(op, keys, values);
    const ValueId mask = joined_mask();
    op->causal = mask_of_places() == kNoValue && tokens_ > 1;
    std::vector<ValueId> inputs{q_, keys, values};
    if (mask != kNoValue) inputs.push_back(mask);
    return join_heads(body_, body_.add(op, with_sinks(inputs)));
  }

  ValueId attend_to_cache(const std::shared_ptr<Attention>& op, ValueId keys, ValueId values) {
    op->causal = tokens_ > 1;
    if (has_window()) op->window = form_.window;
    op->views = {dense_view(body_, q_), dense_view(body_, keys), dense_view(body_, values)};
    op->tokens_first = true;
    op->output = {batches_, tokens_, form_.heads * body_.shape(values)[3]};
    return body_.add(op, with_sinks({q_, keys, values, bias(), lengths_}));
  }

  // The attention kernel takes values of at most Attention::kMostChannels channels.
  ValueId attend_by_products(ValueId keys, ValueId values) {
    DecomposedAttention parts{
        .q = q_, .k = keys, .v = values, .mask = joined_mask(), .softcap = form_.softcap};
    parts.scale = static_cast<double>(scale_of_scores());
    if (mask_of_places() == kNoValue && tokens_ > 1) {
      const ValueId before = body_.add(
          "LessOrEqual", {counted(body_, {1, 1, 1, keys_}, 0), counted(body_, {1, 1, tokens_, 1}, 0)});
      parts.mask = masked_by(before, parts.mask);
    }
    if (form_.has_sinks) parts.sink = sinks();
    parts.build(body_);
    return join_heads(body_, parts.result);
  }

  std::vector<ValueId> with_sinks(std::vector<ValueId> inputs) {
    if (!form_.has_sinks) return inputs;
    inputs.resize(5, kNoValue);
    inputs.push_back(sinks());
    return inputs;
  }

  // Returns one element for each head; zeros for a smooth softmax.
  ValueId sinks() {
    const DType dtype = body_.type(q_).dtype;
    const std::vector<float> zeros(static_cast<size_t>(form_.heads));
    if (!body_.has_input(kHeadSink))
      return body_.constant(HostTensor::from<float>(dtype, {form_.heads}, zeros));
    const ValueId given = body_.input(kHeadSink, "head_sink");
    if (element_count(body_.shape(given)) != form_.heads)
      refuse_model("head_sink of shape " + to_string(body_.shape(given)) +
                   " has not one element for each of " + std::to_string(form_.heads) + " heads");
    return body_.cast(body_.reshape(given, {form_.heads}), dtype);
  }

  Body& body_;
  const GroupForm& form_;
  ValueId q_ = kNoValue, k_ = kNoValue, v_ = kNoValue;  // (batch, head, token, channel)
  int64_t batches_ = 0, tokens_ = 0;
  int64_t past_ = 0, keys_ = 0;  // capacity of the cache in tokens, before and after
  // With a cache, for each batch: the number of tokens up to the last new one, and the position of the first
  // new one.
  ValueId lengths_ = kNoValue, first_ = kNoValue;
  DType integer_ = DType::i32;  // of both
  float key_scale_ = 1.0f;
  ValueId table_ = kNoValue;  // of rotations of the new tokens
  std::optional<ValueId> places_;
};

}  // namespace
}  // namespace group_query

void build_group_query(Body& body, const GroupForm& form) { group_query::GroupQueryBody(body, form).build(); }

}  // namespace vellum

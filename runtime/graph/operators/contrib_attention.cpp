// Attention and rotary embeddings of com.microsoft.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph/composed.hpp"
#include "graph/node_spec.hpp"
#include "graph/operators/contrib_rows.hpp"
#include "graph/operators/matmul/attention_forms.hpp"
#include "graph/operators/matmul/growing_attention.hpp"
#include "graph/operators/matmul/heads.hpp"

namespace vellum {
namespace {

struct HeadAttributes {
  int64_t heads = 0;
  float scale = 0.0f;  // 0: 1 / sqrt(channels)
  bool causal = false;
  float excluded = -10000.0f;  // added to the scores of keys that a mask leaves out

  explicit HeadAttributes(const Attributes& a)
      : heads(a.get_int("num_heads", 0)),
        scale(a.get_float("scale", 0.0f)),
        causal(get_flag(a, "unidirectional", false)),
        excluded(a.get_float("mask_filter_value", -10000.0f)) {}

  // `inputs` are those of ONNX's Attention; with caches of fixed capacity (AttentionForm) also their length.
  std::vector<ValueId> attend(Body& body, std::vector<ValueId> inputs, size_t outputs,
                              bool fixed_capacity = false) const {
    while (inputs.back() == kNoValue) inputs.pop_back();
    if (!fixed_capacity)
      return body.add_several("Attention", inputs, outputs,
                              {{"q_num_heads", heads},
                               {"kv_num_heads", heads},
                               {"scale", scale},
                               {"is_causal", int64_t{causal}}});
    AttentionForm form{.causal = causal, .q_heads = heads, .kv_heads = heads, .fixed_capacity = true};
    if (scale != 0.0f) form.scale = scale;
    const Attributes none;
    return body.add_several(make_attention_form(spec_of("Attention", {}, 24, none, inputs, outputs), form),
                            inputs, outputs);
  }
};

// Returns whether the mask lets a query see each of `keys` keys, in a shape that the scores of (batch, head,
// query, key) take. The mask has the number of keys of each batch, in the first half of 2 x batches numbers
// where the second has the first key, or in the first of 3 x batches + 2 numbers where the others are running
// sums of lengths; or it has a number above 0 for each key that is seen, of each query or of all. It may end
// before keys that a cache has room for.
ValueId keys_seen(Body& body, ValueId mask, int64_t batches, int64_t queries, int64_t keys) {
  const Shape shape = body.shape(mask);
  const auto above_zero = [&](const Shape& as) {
    return body.add("Greater", {body.cast(body.reshape(mask, as), DType::i64), body.scalar(DType::i64, 0.0)});
  };
  if (shape.size() == 2 && shape[0] == batches && shape[1] <= keys)
    return above_zero({batches, 1, 1, shape[1]});
  if (shape.size() == 3 && shape[0] == batches && shape[1] == queries && shape[2] <= keys)
    return above_zero({batches, 1, queries, shape[2]});
  const int64_t numbers = shape.size() == 1 ? shape[0] : 0;
  if (numbers != batches && numbers != 2 * batches && numbers != 3 * batches + 2)
    refuse_unsupported("a key_padding_mask of shape " + to_string(shape));
  const auto of_batches = [&](int64_t first) {
    const ValueId part = body.slice(mask, 0, first, first + batches);
    return body.cast(body.reshape(part, {batches, 1, 1, 1}), DType::i64);
  };
  const ValueId key = counted(body, {1, 1, 1, keys}, 0), seen = body.add("Less", {key, of_batches(0)});
  if (numbers != 2 * batches) return seen;
  return body.add("And", {seen, body.add("GreaterOrEqual", {key, of_batches(batches)})});
}

// Returns a bias for scores: `excluded` for keys that the mask leaves out, else 0.
ValueId padding_bias(Body& body, ValueId mask, int64_t batches, int64_t queries, int64_t keys,
                     float excluded) {
  const auto number = [&](float value) { return body.scalar(DType::f32, static_cast<double>(value)); };
  return body.add("Where", {keys_seen(body, mask, batches, queries, keys), number(0.0f), number(excluded)});
}

ValueId sum_of(Body& body, ValueId a, ValueId b) {
  if (a == kNoValue || b == kNoValue) return a == kNoValue ? b : a;
  return body.add("Add", {a, b});
}

// Returns the parts of a tensor (batch, token, head, part, channel) as (batch, token, channels of all heads).
std::vector<ValueId> unpacked(Body& body, ValueId x, int64_t parts, std::string_view what) {
  const Shape shape = body.shape(x);
  if (shape.size() != 5 || shape[3] != parts)
    refuse_model(std::string(what) + " of shape " + to_string(shape) + " has not " + std::to_string(parts) +
                 " parts");
  std::vector<ValueId> result;
  for (int64_t i = 0; i < parts; ++i)
    result.push_back(body.reshape(body.slice(x, 3, i, i + 1), {shape[0], shape[1], shape[2] * shape[4]}));
  return result;
}

std::vector<ValueId> queries_keys_values(Body& body) {
  const ValueId query = body.input(0, "query");
  if (!body.has_input(1)) return unpacked(body, query, 3, "query");
  const ValueId key = body.input(1, "key");
  if (body.has_input(2)) return {query, key, body.input(2, "value")};
  const std::vector<ValueId> key_value = unpacked(body, key, 2, "key");
  return {query, key_value[0], key_value[1]};
}

// Which inputs MultiHeadAttention and DecoderMaskedMultiHeadAttention have besides query, key and value.
struct HeadInputs {
  size_t bias, padding, scores_bias, past_key, past_value, length, indirection;
};
constexpr HeadInputs kMultiHead{3, 4, 5, 6, 7, 8, 9};
constexpr HeadInputs kDecoderMasked{10, 3, 4, 5, 6, 7, 9};

class MultiHeadBody {
 public:
  MultiHeadBody(Body& body, const HeadAttributes& attributes, const HeadInputs& inputs, size_t outputs)
      : body_(body), attributes_(attributes), inputs_(inputs), outputs_(outputs) {}

  void build(bool fixed_capacity) {
    std::vector<ValueId> qkv = queries_keys_values(body_);
    if (body_.has_input(inputs_.bias)) add_bias(qkv);
    ValueId mask = body_.optional_input(inputs_.scores_bias);
    if (body_.has_input(inputs_.padding)) mask = sum_of(body_, mask, padding(qkv[0], qkv[1], fixed_capacity));
    qkv.push_back(mask);
    for (const size_t i : {inputs_.past_key, inputs_.past_value}) qkv.push_back(body_.optional_input(i));
    if (fixed_capacity) qkv.push_back(body_.input(inputs_.length, "past_sequence_length"));
    for (const ValueId value : attributes_.attend(body_, qkv, outputs_, fixed_capacity)) body_.output(value);
  }

 private:
  // Adds to each its part of the bias. Keys and values with heads apart are those of cross attention, which
  // have had their bias added when they were computed.
  void add_bias(std::vector<ValueId>& qkv) {
    const bool has_computed_keys = body_.has_input(1) && body_.shape(body_.input(1, "key")).size() == 4;
    int64_t first = 0;
    for (ValueId& x : qkv) {
      const Shape shape = body_.shape(x);
      if (has_computed_keys && first > 0) break;
      if (shape.size() != 3) refuse_unsupported("MultiHeadAttention with a bias of heads that are apart");
      x = body_.add("Add", {x, body_.slice(body_.input(inputs_.bias, "bias"), 0, first, first + shape[2])});
      first += shape[2];
    }
  }

  ValueId padding(ValueId q, ValueId k, bool fixed_capacity) {
    const Shape query = body_.shape(q), key = body_.shape(k);
    int64_t keys = key.at(key.size() == 4 ? 2 : 1);
    if (body_.has_input(inputs_.past_key)) {
      const int64_t past = body_.shape(body_.input(inputs_.past_key, "past_key")).at(2);
      keys = fixed_capacity ? past : keys + past;
    }
    const ValueId mask = body_.input(inputs_.padding, "key_padding_mask");
    return padding_bias(body_, mask, key[0], query.at(query.size() == 4 ? 2 : 1), keys, attributes_.excluded);
  }

  Body& body_;
  const HeadAttributes& attributes_;
  const HeadInputs& inputs_;
  size_t outputs_;
};

// `shares_caches`: the new tokens are written into the caches, which keep their length.
std::shared_ptr<const Operator> make_with_heads(const NodeSpec& spec, const HeadInputs& inputs,
                                                bool shares_caches) {
  const HeadAttributes attributes(*spec.attributes);
  if (spec.has_input(inputs.indirection)) refuse_unsupported(spec.type + " with the caches of several beams");
  const auto body_of = [&](bool fixed_capacity) -> Composed::Compose {
    return [attributes, &inputs, outputs = spec.output_count, fixed_capacity](Body& body) {
      MultiHeadBody(body, attributes, inputs, outputs).build(fixed_capacity);
    };
  };
  if (shares_caches || !spec.has_input(inputs.past_key) || !spec.has_input(inputs.past_value) ||
      spec.output_count < 3)
    return composed(spec, body_of(shares_caches));
  auto op = std::make_shared<GrowingAttention>(spec, body_of(false));
  op->caches = {{{inputs.past_key, 1}, {inputs.past_value, 2}}};
  op->tokens_axis = 1;
  op->length_input = inputs.length;
  op->fixed = composed(spec, body_of(true));
  return op;
}

std::shared_ptr<const Operator> make_multi_head_attention(const NodeSpec& spec) {
  return make_with_heads(spec, kMultiHead, spec.has_input(kMultiHead.length));
}

// Makes DecoderMaskedMultiHeadAttention, which computes one new token. The number of beams is not read: only
// cache_indirection uses it, which is refused.
std::shared_ptr<const Operator> make_decoder_masked_attention(const NodeSpec& spec) {
  const bool shares = get_flag(*spec.attributes, "past_present_share_buffer", false);
  if (spec.attributes->get_int("output_qk", 0) != 0)
    refuse_unsupported("DecoderMaskedMultiHeadAttention with its scores");
  return make_with_heads(spec, kDecoderMasked, shares);
}

// Which inputs Attention and QAttention have besides the input, the matrix and its bias.
struct ProjectedInputs {
  size_t mask_index, past, scores_bias;
};
constexpr size_t kNoInput = SIZE_MAX;
constexpr ProjectedInputs kAttention{3, 4, 5}, kQuantisedAttention{5, 8, kNoInput};

// Attention whose queries, keys and values are one tensor (batch, token, channels of all three).
struct ProjectedAttention {
  HeadAttributes heads;
  Ints sizes;  // channels of queries, keys and values; empty: a third each
  ProjectedInputs inputs;
  size_t outputs = 1;

  ProjectedAttention(const NodeSpec& spec, const ProjectedInputs& places)
      : heads(*spec.attributes),
        sizes(spec.attributes->get_ints("qkv_hidden_sizes")),
        inputs(places),
        outputs(spec.output_count) {
    if (get_flag(*spec.attributes, "do_rotary", false))
      refuse_unsupported(spec.type + " with rotary embeddings");
    // ONNX Runtime's model builder writes it without rotation, too.
    spec.attributes->ignore("rotary_embedding_dim");
    if (get_flag(*spec.attributes, "past_present_share_buffer", false))
      refuse_unsupported(spec.type + " with a cache that is updated in place");
  }

  void attend(Body& body, ValueId x) const {
    const Shape shape = body.shape(x);
    if (shape.size() != 3) refuse_model("input has not three dimensions");
    std::vector<ValueId> operands = divided(body, x);
    const Past past = past_of(body);
    ValueId mask = inputs.scores_bias == kNoInput ? kNoValue : body.optional_input(inputs.scores_bias);
    if (body.has_input(inputs.mask_index))
      mask = sum_of(body, mask,
                    padding_bias(body, body.input(inputs.mask_index, "mask_index"), shape[0], shape[1],
                                 checked_add(past.tokens, shape[1]), heads.excluded));
    operands.insert(operands.end(), {mask, past.key, past.value});
    const std::vector<ValueId> results = heads.attend(body, operands, outputs > 1 ? 3 : 1);
    body.output(results[0]);
    if (outputs > 1)
      body.output(
          body.add("Concat", {pair_of(body, results[1]), pair_of(body, results[2])}, {{"axis", int64_t{0}}}));
  }

 private:
  struct Past {
    ValueId key = kNoValue, value = kNoValue;
    int64_t tokens = 0;
  };

  std::vector<ValueId> divided(Body& body, ValueId x) const {
    const int64_t channels = body.shape(x)[2];
    Ints widths = sizes;
    if (widths.empty()) widths.assign(3, channels / 3);
    if (widths.size() != 3 || checked_add(checked_add(widths[0], widths[1]), widths[2]) != channels)
      refuse_model("qkv_hidden_sizes do not add up to " + std::to_string(channels));
    std::vector<ValueId> parts;
    int64_t first = 0;
    for (const int64_t width : widths) {
      parts.push_back(body.slice(x, 2, first, first + width));
      first += width;
    }
    return parts;
  }

  // The cache has keys and values in one tensor (2, batch, head, token, channel).
  Past past_of(Body& body) const {
    if (!body.has_input(inputs.past)) return {};
    const ValueId past = body.input(inputs.past, "past");
    const Shape shape = body.shape(past);
    if (shape.size() != 5 || shape[0] != 2)
      refuse_model("past has shape " + to_string(shape) + ", not keys and values of five dimensions");
    const Shape part{shape.begin() + 1, shape.end()};
    const auto half = [&](int64_t i) { return body.reshape(body.slice(past, 0, i, i + 1), part); };
    return {half(0), half(1), shape[3]};
  }

  static ValueId pair_of(Body& body, ValueId cache) {
    Shape shape = body.shape(cache);
    shape.insert(shape.begin(), 1);
    return body.reshape(cache, shape);
  }
};

// Projects the input to queries, keys and values with one matrix.
std::shared_ptr<const Operator> make_contrib_attention(const NodeSpec& spec) {
  return composed(spec, [attention = ProjectedAttention(spec, kAttention)](Body& body) {
    ValueId x = body.add("MatMul", {body.input(0, "input"), body.input(1, "weights")});
    if (body.has_input(2)) x = body.add("Add", {x, body.input(2, "bias")});
    attention.attend(body, x);
  });
}

// Projects integers with a matrix of integers. Inputs input, weight, bias, input_scale, weight_scale,
// mask_index, input_zero_point, weight_zero_point, past.
std::shared_ptr<const Operator> make_quantised_attention(const NodeSpec& spec) {
  return composed(spec, [attention = ProjectedAttention(spec, kQuantisedAttention)](Body& body) {
    const ValueId sums = body.add("MatMulInteger", {body.input(0, "input"), body.input(1, "weight"),
                                                    body.optional_input(6), body.optional_input(7)});
    const ValueId scale = body.add("Mul", {body.input(3, "input_scale"), body.input(4, "weight_scale")});
    const ValueId products = body.add("Mul", {body.cast(sums, body.type(scale).dtype), scale});
    attention.attend(body, body.add("Add", {products, body.input(2, "bias")}));
  });
}

// Returns the position of each token. `given`: these positions, or the position of the first token.
ValueId positions_of(Body& body, ValueId given, int64_t batches, int64_t tokens) {
  if (body.shape(given) == Shape{batches, tokens}) return given;
  if (element_count(body.shape(given)) != 1)
    refuse_model("position_ids of shape " + to_string(body.shape(given)) + ", expected one or " +
                 to_string(Shape{batches, tokens}));
  const ValueId first = body.reshape(body.cast(given, DType::i64), {1, 1});
  const ValueId places = body.add("Add", {counted(body, {1, tokens}, 0), first});
  return body.add("Expand", {places, body.ints({batches, tokens})});
}

// RotaryEmbedding of com.microsoft has its inputs in another order than ONNX's operator.
std::shared_ptr<const Operator> make_contrib_rotary(const NodeSpec& spec) {
  const Attributes& a = *spec.attributes;
  const int64_t interleaved = a.get_int("interleaved", 0), heads = a.get_int("num_heads", 0),
                channels = a.get_int("rotary_embedding_dim", 0);
  if (a.get_float("scale", 1.0f) != 1.0f) refuse_unsupported("RotaryEmbedding (com.microsoft) with a scale");
  if (get_flag(a, "is_packed_batching", false)) refuse_unsupported("RotaryEmbedding of packed batches");
  return composed(spec, [=](Body& body) {
    const ValueId x = body.input(0, "input"), cosines = body.input(2, "cos_cache");
    const Shape shape = body.shape(x);
    if (shape.size() != 3 && shape.size() != 4) refuse_model("input has neither three nor four dimensions");
    if (body.shape(cosines).size() != 2) refuse_model("cos_cache is no matrix");
    const int64_t tokens = shape[shape.size() == 4 ? 2 : 1];
    int64_t of_heads = heads;
    if (of_heads == 0 && shape.size() == 3)
      of_heads = shape[2] / std::max<int64_t>(2 * body.shape(cosines)[1], 1);
    const ValueId places = positions_of(body, body.input(1, "position_ids"), shape[0], tokens);
    body.output(body.add(
        "RotaryEmbedding", {x, cosines, body.input(3, "sin_cache"), places},
        {{"interleaved", interleaved}, {"num_heads", of_heads}, {"rotary_embedding_dim", channels}}));
  });
}

constexpr ContribRow kAttentionOperators[] = {
    {"com.microsoft.MultiHeadAttention", make_multi_head_attention},
    {"com.microsoft.DecoderMaskedMultiHeadAttention", make_decoder_masked_attention},
    {"com.microsoft.Attention", make_contrib_attention},
    {"com.microsoft.QAttention", make_quantised_attention},
    {"com.microsoft.GroupQueryAttention", make_group_query_attention},
    {"com.microsoft.RotaryEmbedding", make_contrib_rotary},
};

}  // namespace

std::span<const ContribRow> attention_contrib_operators() { return kAttentionOperators; }

}  // namespace vellum

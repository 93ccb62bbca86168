#include "graph/operators/matmul/attention_forms.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "graph/composed.hpp"
#include "graph/operators/matmul/attention.hpp"
#include "graph/operators/matmul/decomposed_attention.hpp"
#include "graph/operators/matmul/growing_attention.hpp"
#include "graph/operators/matmul/heads.hpp"

namespace vellum {
namespace {

enum AttentionInput : size_t { kQ, kK, kV, kMask, kPastKey, kPastValue, kLengths };

class AttentionBody {
 public:
  AttentionBody(Body& body, const AttentionForm& form)
      : body_(body), form_(form), q_(body.input(kQ, "Q")), k_(body.input(kK, "K")), v_(body.input(kV, "V")) {}

  void build() {
    check();
    if (form_.fixed_capacity)
      write_into_caches();
    else if (body_.has_input(kLengths))
      lengths_ = body_.input(kLengths, "nonpad_kv_seqlen");
    if (is_one_operator()) return build_one_operator();
    k_ = joined(heads_of(k_, form_.kv_heads, "K"), kPastKey, "past_key");
    v_ = joined(heads_of(v_, form_.kv_heads, "V"), kPastValue, "past_value");
    keys_ = body_.shape(k_)[2];
    const ValueId q4 = heads_of(q_, form_.q_heads, "Q");
    queries_ = body_.shape(q4)[2];
    const ValueId mask = joined_masks();
    const bool decomposes = needs_products();
    body_.output(decomposes ? decomposed(q4, mask) : plain(mask));
    body_.output(k_);
    body_.output(v_);
    if (decomposes) body_.output(scores_);
  }

 private:
  void check() const {
    for (const ValueId value : {q_, k_, v_}) {
      const size_t rank = body_.shape(value).size();
      if (rank != 3 && rank != 4) refuse_model("Q, K or V has neither three nor four dimensions");
    }
    if (body_.has_input(kPastKey) != body_.has_input(kPastValue))
      refuse_model("past_key and past_value go together");
    if (body_.has_input(kPastKey) && body_.has_input(kLengths) && !form_.fixed_capacity)
      refuse_model("nonpad_kv_seqlen and past_key do not go together");
  }

  // Writes the new tokens into the caches, which are K and V then.
  void write_into_caches() {
    k_ = heads_of(k_, form_.kv_heads, "K");
    v_ = heads_of(v_, form_.kv_heads, "V");
    const ValueId keys = body_.input(kPastKey, "past_key"), values = body_.input(kPastValue, "past_value");
    const Shape now = body_.shape(k_);
    ValueId before = body_.input(kLengths, "the number of tokens in the cache");
    if (body_.shape(before) == Shape{1}) before = body_.add("Expand", {before, body_.ints({now[0]})});
    const ValueId tokens = body_.scalar(body_.type(before).dtype, static_cast<double>(now[2]));
    lengths_ = body_.add("Add", {before, tokens});
    k_ = body_.add("TensorScatter", {keys, k_, before}, {{"axis", int64_t{2}}});
    v_ = body_.add("TensorScatter", {values, v_, before}, {{"axis", int64_t{2}}});
  }

  // Whether the scores are an output, or are capped for heads that the kernel of attention does not support.
  bool needs_products() const {
    const Shape v = body_.shape(v_);
    const int64_t channels = v.size() == 4 ? v[3] : v[2] / std::max(form_.kv_heads, int64_t{1});
    return form_.gives_scores || (form_.softcap != 0.0f && channels > Attention::kMostChannels);
  }

  // Whether the operator Attention itself knows the positions that a query may attend to.
  bool is_one_operator() const {
    return (lengths_ != kNoValue || !body_.has_input(kPastKey)) && !needs_products() &&
           form_.left_window < 0 && form_.right_window < 0;
  }

  void build_one_operator() {
    auto op = std::make_shared<Attention>();
    op->scale = form_.scale;
    op->softcap = form_.softcap;
    op->causal = form_.causal;
    op->q_heads = form_.q_heads;
    op->kv_heads = form_.kv_heads;
    const Shape q = body_.shape(q_), k = body_.shape(k_);
    keys_ = k[k.size() - 2];
    if (q.size() == 3 && k.size() == 4) {
      q_ = heads_of(q_, form_.q_heads, "Q");
      op->views = {dense_view(body_, q_), dense_view(body_, k_), dense_view(body_, v_)};
      op->tokens_first = true;
      op->output = {q[0], q[1], form_.q_heads * body_.shape(v_)[3]};
    }
    std::vector<ValueId> inputs{q_, k_, v_, given_mask()};
    if (lengths_ != kNoValue) inputs.push_back(lengths_);
    body_.output(body_.add(op, inputs));
    body_.output(heads_of(k_, form_.kv_heads, "K"));
    body_.output(heads_of(v_, form_.kv_heads, "V"));
  }

  ValueId heads_of(ValueId x, int64_t heads, std::string_view what) {
    return body_.shape(x).size() == 4 ? x : split_heads(body_, x, heads, what);
  }

  ValueId joined(ValueId now, size_t before, std::string_view what) {
    if (!body_.has_input(before) || form_.fixed_capacity) return now;
    const ValueId past = body_.input(before, what);
    const Shape shape = body_.shape(past);
    if (shape.size() != 4) refuse_model("input '" + std::string(what) + "' has not four dimensions");
    past_ = shape[2];
    if (shape[2] == 0) return now;
    return body_.add("Concat", {past, now}, {{"axis", int64_t{2}}});
  }

  ValueId both(ValueId a, ValueId b) {
    if (a == kNoValue || b == kNoValue) return a == kNoValue ? b : a;
    return body_.add("And", {a, b});
  }

  // Returns which keys each query may attend to by position: a boolean that broadcasts to the scores, or
  // kNoValue.
  ValueId allowed() {
    const bool windowed = form_.left_window >= 0 || form_.right_window >= 0;
    ValueId result = kNoValue;
    Body::table_size({queries_, keys_});
    const ValueId key = counted(body_, {1, 1, 1, keys_}, 0);
    ValueId place = counted(body_, {1, 1, queries_, 1}, 0);  // the position of the query among the keys
    const auto shifted = [&](int64_t by) {
      return body_.add("Add", {place, body_.constant(HostTensor::i64({}, std::array{by}))});
    };
    if (lengths_ != kNoValue) {
      const Shape q = body_.shape(q_);
      const ValueId length = body_.cast(body_.reshape(lengths_, {q[0], 1, 1, 1}), DType::i64);
      result = body_.add("Less", {key, length});
      place = body_.add("Add", {shifted(-queries_), length});
    } else {
      place = shifted(past_);
    }
    if (form_.causal) result = both(result, body_.add("LessOrEqual", {key, place}));
    if (!windowed) return result;
    if (form_.left_window >= 0)
      result = both(result, body_.add("GreaterOrEqual", {key, shifted(-form_.left_window)}));
    if (form_.right_window >= 0)
      result = both(result, body_.add("LessOrEqual", {key, shifted(form_.right_window)}));
    return result;
  }

  // Returns the mask of the model for all keys. Keys after the end of the mask are excluded. Numbers of any
  // type are added to the scores.
  ValueId given_mask() {
    if (!body_.has_input(kMask)) return kNoValue;
    ValueId mask = body_.input(kMask, "attn_mask");
    if (body_.type(mask).dtype != DType::boolean) mask = body_.cast(mask, body_.type(q_).dtype);
    const TensorType type = body_.type(mask);
    if (type.shape.empty() || type.shape.back() >= keys_ || type.shape.back() == 1) return mask;
    Shape rest = type.shape;
    rest.back() = keys_ - type.shape.back();
    const std::vector<float> excluded(Body::table_size(rest),
                                      type.dtype == DType::boolean ? 0.0f : -INFINITY);
    return body_.add("Concat", {mask, body_.constant(HostTensor::from<float>(type.dtype, rest, excluded))},
                     {{"axis", int64_t{-1}}});
  }

  ValueId joined_masks() {
    const ValueId mask = given_mask(), places = allowed();
    if (mask == kNoValue || places == kNoValue) return mask == kNoValue ? places : mask;
    const DType dtype = body_.type(mask).dtype;
    if (dtype == DType::boolean) return body_.add("And", {mask, places});
    return body_.add("Where", {places, mask, body_.scalar(dtype, -INFINITY)});
  }

  ValueId plain(ValueId mask) {
    auto op = std::make_shared<Attention>();
    op->scale = form_.scale;
    op->softcap = form_.softcap;
    op->q_heads = form_.q_heads;
    op->kv_heads = form_.kv_heads;
    std::vector<ValueId> inputs{q_, k_, v_};
    if (mask != kNoValue) inputs.push_back(mask);
    return body_.add(op, inputs);
  }

  ValueId decomposed(ValueId q4, ValueId mask) {
    DecomposedAttention parts{.q = q4, .k = k_, .v = v_, .mask = mask, .softcap = form_.softcap};
    if (form_.scale) parts.scale = static_cast<double>(*form_.scale);
    parts.build(body_);
    const std::array by_mode{parts.scores, parts.capped, parts.masked, parts.weights};
    scores_ = by_mode[static_cast<size_t>(form_.scores_mode)];
    if (body_.shape(q_).size() == 4) return parts.result;
    return join_heads(body_, parts.result);
  }

  Body& body_;
  const AttentionForm& form_;
  ValueId q_, k_, v_, scores_ = kNoValue;
  ValueId lengths_ = kNoValue;  // of each batch: the tokens of K that exist
  int64_t past_ = 0, keys_ = 0, queries_ = 0;
};

Composed::Compose body_of(const AttentionForm& form) {
  return [form](Body& body) { AttentionBody(body, form).build(); };
}

}  // namespace

std::shared_ptr<const Operator> make_attention_form(const NodeSpec& spec, const AttentionForm& form) {
  if (form.left_window < -1 || form.right_window < -1) refuse_model("a window size is negative");
  if (form.scores_mode < 0 || form.scores_mode > 3) refuse_model("qk_matmul_output_mode is unknown");
  if (!spec.has_input(kPastKey) || !spec.has_input(kPastValue) || spec.output_count < 3 ||
      form.fixed_capacity)
    return composed(spec, body_of(form));
  auto op = std::make_shared<GrowingAttention>(spec, body_of(form));
  op->caches = {{{kPastKey, 1}, {kPastValue, 2}}};
  op->tokens_input = kK;
  op->tokens_axis = form.kv_heads > 0 ? 1 : 2;
  op->length_input = kLengths;
  AttentionForm fixed = form;
  fixed.fixed_capacity = true;
  op->fixed = composed(spec, body_of(fixed));
  return op;
}

}  // namespace vellum

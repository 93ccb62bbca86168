#include "graph/operators/matmul/attention.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "graph/byte_rows.hpp"
#include "graph/operators/matmul/attention_forms.hpp"
#include "graph/operators/movement/gather.hpp"
#include "vellum/error.hpp"

namespace vellum {

namespace {

StridedView heads_of(const Shape& shape, int64_t heads, const char* what) {
  if (shape.size() == 4) return {0, shape, row_major_strides(shape)};
  if (shape.size() != 3) refuse_model(std::string(what) + " has neither three nor four dimensions");
  if (heads <= 0 || shape[2] % heads != 0)
    refuse_model(std::string(what) + " of shape " + to_string(shape) + " has no " + std::to_string(heads) +
                 " heads");
  const int64_t tokens = shape[1], width = shape[2], channels = width / heads;
  return {0, {shape[0], heads, tokens, channels}, {tokens * width, channels, width, 1}};
}

// Returns the view with the words of a row in place of its channels.
StridedView in_words(RowFormat format, StridedView view) {
  if (format == RowFormat::floats) return view;
  if (view.shape.size() != 4 || view.shape[3] % channels_of_word(format) != 0)
    refuse_model("rows of bytes have no whole words");
  view.shape[3] = words_of_row(format, view.shape[3]);
  return view;
}

const TensorType& operand_type(Inputs inputs, size_t i, const char* what, bool byte_rows) {
  if (!byte_rows) return float_input_type(inputs, i, what);
  const TensorType& type = input_type(inputs, i, what);
  if (type.dtype != DType::i32) refuse_model(std::string(what) + " is " + to_string(type) + ", not bytes");
  return type;
}

bool agree(const Attention::Operands& o) {
  const Shape &q = o.q.shape, &k = o.k.shape, &v = o.v.shape;
  return q[0] == k[0] && k[0] == v[0] && k[1] == v[1] && k[1] > 0 && q[1] % k[1] == 0 && k[2] == v[2] &&
         q[3] == k[3];
}

}  // namespace

void check_view(const StridedView& view, const Shape& input) {
  int64_t first = view.offset, last = view.offset;
  if (view.shape.size() != 4 || view.strides.size() != 4) refuse_model("a view has not four dimensions");
  for (size_t i = 0; i < 4; ++i) {
    if (view.shape[i] == 0) return;
    (view.strides[i] < 0 ? first : last) += (view.shape[i] - 1) * view.strides[i];
  }
  if (first < 0 || last >= element_count(input)) refuse_model("a view leaves its tensor");
}

Attention::Operands Attention::operands(Inputs inputs) const {
  const TensorType& q = float_input_type(inputs, 0, "Q");
  const Shape &k = operand_type(inputs, 1, "K", has_word_caches()).shape,
              &v = operand_type(inputs, 2, "V", has_word_caches()).shape;
  if (has_word_caches() && !views) throw Error(ErrorCode::internal, "caches in words need views");
  Operands o;
  if (views) {
    o.q = (*views)[0], o.k = (*views)[1], o.v = (*views)[2];
    o.tokens_first = tokens_first;
    check_view(o.q, q.shape);
    check_view(in_words(cache_rows, o.k), k);
    check_view(in_words(cache_rows, o.v), v);
  } else {
    o.q = heads_of(q.shape, q_heads, "Q");
    o.k = heads_of(k, kv_heads, "K");
    o.v = heads_of(v, kv_heads, "V");
    o.tokens_first = q.shape.size() == 3;
  }
  if (!agree(o))
    refuse_model("Q, K and V of shapes " + to_string(o.q.shape) + ", " + to_string(o.k.shape) + " and " +
                 to_string(o.v.shape) + " do not go together");
  const Shape y{o.q.shape[0], o.q.shape[1], o.q.shape[2], o.v.shape[3]};
  o.output = views ? output : o.tokens_first ? Shape{y[0], y[2], y[1] * y[3]} : y;
  if (element_count(o.output) != element_count(y))
    refuse_model("the output has not shape " + to_string(o.output));
  o.scale = scale.value_or(1.0f / std::sqrt(static_cast<float>(o.q.shape[3])));
  return o;
}

std::vector<TensorType> Attention::infer(Inputs inputs) const {
  const Operands o = operands(inputs);
  if (score_rounding && !weight_rounding) throw Error(ErrorCode::internal, "only the scores are rounded");
  if ((q_rounding || k_rounding) && !weight_rounding)
    throw Error(ErrorCode::internal, "only the operands are rounded");
  if (weight_rounding && has_input(inputs, 4)) throw Error(ErrorCode::internal, "caches are not rounded");
  if (weight_rounding && (softcap != 0.0f || has_input(inputs, 5)))
    throw Error(ErrorCode::internal, "weights with a soft cap or sinks are not rounded");
  check_norms(o);
  const DType dtype = inputs[0].type.dtype;
  if (!has_word_caches() && (inputs[1].type.dtype != dtype || inputs[2].type.dtype != dtype))
    refuse_model("Q, K and V differ in type");
  if (has_input(inputs, 3)) {
    const TensorType& mask = input_type(inputs, 3, "attn_mask");
    const Shape scores{o.q.shape[0], o.q.shape[1], o.q.shape[2], o.k.shape[2]};
    if (mask.dtype != dtype && mask.dtype != DType::boolean)
      refuse_model("attn_mask is " + to_string(mask) + ", Q " + to_string(inputs[0].type));
    if (broadcast(mask.shape, scores) != scores)
      refuse_model("attn_mask of shape " + to_string(mask.shape) + " does not broadcast to " +
                   to_string(scores));
  }
  if (has_input(inputs, 4)) {
    const TensorType& lengths = input_type(inputs, 4, "lengths");
    require_indices(lengths);
    if (lengths.shape != Shape{o.q.shape[0]})
      refuse_model("lengths of shape " + to_string(lengths.shape) + " has not one element for each batch");
  }
  if (has_input(inputs, 5)) {
    const TensorType& sinks = float_input_type(inputs, 5, "head_sink");
    if (sinks.dtype != dtype || sinks.shape != Shape{o.q.shape[1]})
      refuse_model("head_sink is " + to_string(sinks) + " for " + std::to_string(o.q.shape[1]) +
                   " heads of " + to_string(inputs[0].type));
  }
  if (has_input(inputs, 6)) check_key_bias(inputs, o);
  return {{dtype, o.output}};
}

void Attention::check_norms(const Operands& o) const {
  const auto fits = [](const OperandNorm& norm, const Shape& rows) {
    return !norm || static_cast<int64_t>(norm.factors.size()) == rows[1] * rows[3];
  };
  if (!fits(q_norm, o.q.shape) || !fits(k_norm, o.k.shape))
    throw Error(ErrorCode::internal, "a normalised operand has not one factor for each channel of its heads");
  if ((q_norm || k_norm) && (q_rounding || k_rounding))
    throw Error(ErrorCode::internal, "an operand of attention is normalised and rounded");
}

void Attention::check_key_bias(Inputs inputs, const Operands& o) const {
  const TensorType &bias = inputs[6].type, &q = inputs[0].type;
  if (weight_rounding || !has_input(inputs, 3) || inputs[3].type.dtype != q.dtype)
    throw Error(ErrorCode::internal, "a key bias without a mask of floats, or with rounded weights");
  const bool fits = bias.shape.size() == 4 && (bias.shape[0] == 1 || bias.shape[0] == o.q.shape[0]) &&
                    bias.shape[1] == o.q.shape[1] && bias.shape[2] == 1 && bias.shape[3] == o.k.shape[2];
  if (bias.dtype != q.dtype || !fits) refuse_model("a key bias is " + to_string(bias));
}

namespace {

double rounded(const Activation& rounding, double x) {
  return rounding ? static_cast<double>(apply(rounding, static_cast<float>(x))) : x;
}

void round_operand(HostTensor& operand, const OperandRounding& rounding) {
  if (!rounding) return;
  for (float& x : operand.mutable_as<float>()) x = apply(rounding.rounding, x * rounding.factor);
}

// The operand's shape is (batch, head, token, channel).
void normalize_operand(HostTensor& operand, const OperandNorm& norm) {
  if (!norm) return;
  const Shape shape = operand.shape();
  const auto channels = static_cast<size_t>(shape[3]);
  const std::span<float> values = operand.mutable_as<float>();
  for (size_t first = 0; first < values.size(); first += channels) {
    const size_t head = first / channels / static_cast<size_t>(shape[2]) % static_cast<size_t>(shape[1]);
    double squares = 0.0;
    for (size_t c = 0; c < channels; ++c) squares += double{values[first + c]} * double{values[first + c]};
    const double root = std::sqrt(squares / static_cast<double>(channels) + double{norm.epsilon});
    for (size_t c = 0; c < channels; ++c)
      values[first + c] =
          static_cast<float>(double{values[first + c]} / root * double{norm.factors[head * channels + c]});
  }
}

// Converts the scores of one token of Q to the weights of the values: a softmax. A token that may attend to
// no key has weights of 0. The sink is minus infinity where there is none.
void softmax(std::vector<double>& scores, double sink, const Activation& rounding) {
  const double largest = std::max(*std::max_element(scores.begin(), scores.end()), sink);
  if (largest == -INFINITY) return std::fill(scores.begin(), scores.end(), 0.0);
  double sum = std::exp(sink - largest);
  for (double& score : scores) sum += score = std::exp(score - largest);
  for (double& score : scores) score = rounded(rounding, score / sum);
}

// Returns the mask's summand for the score of each (batch, head, token, token), and the key bias's.
std::vector<float> addends(const HostTensor* mask, const Shape& scores) {
  if (mask == nullptr) return std::vector<float>(static_cast<size_t>(element_count(scores)), 0.0f);
  std::vector<float> values =
      gather_strided(*mask, scores, broadcast_strides(mask->shape(), scores), 0).to_floats();
  if (mask->dtype() == DType::boolean)
    for (float& value : values) value = value != 0.0f ? 0.0f : -INFINITY;
  return values;
}

}  // namespace

std::vector<HostTensor> Attention::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const Operands o = operands(known_inputs(inputs));
  const auto gathered = [&](size_t i, const StridedView& view) {
    return cast(gather_strided(*inputs[i], view.shape, view.strides, view.offset), DType::f32);
  };
  const auto gathered_cache = [&](size_t i, const StridedView& view) {
    if (!has_word_caches()) return gathered(i, view);
    const StridedView words = in_words(cache_rows, view);
    return numbers_of_rows(cache_rows, gather_strided(*inputs[i], words.shape, words.strides, words.offset),
                           view.shape[3]);
  };
  HostTensor q = gathered(0, o.q), k = gathered_cache(1, o.k);
  const HostTensor v = gathered_cache(2, o.v);
  round_operand(q, q_rounding);
  round_operand(k, k_rounding);
  normalize_operand(q, q_norm);
  normalize_operand(k, k_norm);
  const int64_t heads = o.q.shape[1], queries = o.q.shape[2], keys = o.k.shape[2], depth = o.q.shape[3],
                width = o.v.shape[3], per_kv_head = heads / o.k.shape[1];
  const Shape all{o.q.shape[0], heads, queries, keys};
  const auto mask = addends(inputs.size() > 3 ? inputs[3] : nullptr, all),
             key_bias = addends(inputs.size() > 6 ? inputs[6] : nullptr, all);
  const Ints lengths = inputs.size() > 4 && inputs[4] ? inputs[4]->to_ints() : Ints();
  const std::vector<float> sinks =
      inputs.size() > 5 && inputs[5] ? inputs[5]->to_floats() : std::vector<float>();
  const auto capped = [&](double score) {
    return softcap == 0.0f ? score : double{softcap} * std::tanh(score / double{softcap});
  };
  HostTensor y(DType::f32, type.shape);
  if (keys == 0) return {cast(y, type.dtype)};
  const float *qs = q.as<float>().data(), *ks = k.as<float>().data(), *vs = v.as<float>().data();
  float* out = y.mutable_as<float>().data();
  std::vector<double> scores(static_cast<size_t>(keys)), sums(static_cast<size_t>(width));
  for (int64_t row = 0; row < o.q.shape[0] * heads * queries; ++row) {
    const int64_t query = row % queries, head = row / queries % heads, image = row / queries / heads;
    const int64_t length = lengths.empty() ? keys : std::min(lengths[static_cast<size_t>(image)], keys);
    const int64_t place = lengths.empty() ? query : query + length - queries;
    const int64_t kv = (image * o.k.shape[1] + head / per_kv_head) * keys;
    for (int64_t key = 0; key < keys; ++key) {
      double dot = 0.0;
      for (int64_t d = 0; d < depth; ++d)
        dot += double{qs[row * depth + d]} * double{ks[(kv + key) * depth + d]};
      const bool hidden = key >= length || (causal && key > place) || (window > 0 && key <= place - window);
      scores[static_cast<size_t>(key)] = hidden ? -INFINITY
                                                : rounded(score_rounding, capped(dot * double{o.scale})) +
                                                      double{mask[static_cast<size_t>(row * keys + key)]} +
                                                      double{key_bias[static_cast<size_t>(row * keys + key)]};
    }
    const double sink = sinks.empty() ? -INFINITY : double{sinks[static_cast<size_t>(head)]};
    softmax(scores, sink, weight_rounding);
    std::fill(sums.begin(), sums.end(), 0.0);
    for (int64_t key = 0; key < keys; ++key)
      for (int64_t d = 0; d < width; ++d)
        sums[static_cast<size_t>(d)] += scores[static_cast<size_t>(key)] * double{vs[(kv + key) * width + d]};
    const int64_t at = o.tokens_first ? (image * queries + query) * heads + head : row;
    for (int64_t d = 0; d < width; ++d)
      out[at * width + d] = static_cast<float>(sums[static_cast<size_t>(d)]);
  }
  return {cast(y, type.dtype)};
}

uint64_t Attention::macs(Inputs inputs) const {
  const Operands o = operands(inputs);
  const int64_t scores = checked_multiply(o.q.shape[0] * o.q.shape[1], o.q.shape[2] * o.k.shape[2]);
  return static_cast<uint64_t>(checked_multiply(scores, o.q.shape[3] + o.v.shape[3]));
}

Attributes Attention::attributes() const {
  Attributes result;
  if (scale) result.set("scale", *scale);
  if (softcap != 0.0f) result.set("softcap", softcap);
  if (causal) result.set("is_causal", int64_t{1});
  if (window > 0) result.set("window", window);
  if (has_word_caches()) result.set("byte_caches", static_cast<int64_t>(cache_rows));
  if (score_rounding) result.set("score_step", score_rounding.step);
  if (weight_rounding) result.set("weight_step", weight_rounding.step);
  if (q_rounding) result.set("q_factor", q_rounding.factor), result.set("q_step", q_rounding.rounding.step);
  if (k_rounding) result.set("k_factor", k_rounding.factor), result.set("k_step", k_rounding.rounding.step);
  if (q_norm) result.set("q_norm_epsilon", q_norm.epsilon), result.set("q_norm_factors", q_norm.factors);
  if (k_norm) result.set("k_norm_epsilon", k_norm.epsilon), result.set("k_norm_factors", k_norm.factors);
  if (q_heads) result.set("q_num_heads", q_heads);
  if (kv_heads) result.set("kv_num_heads", kv_heads);
  if (views) {
    result.set("q", (*views)[0].shape);
    result.set("k", (*views)[1].shape);
    result.set("v", (*views)[2].shape);
  }
  return result;
}

std::shared_ptr<const Operator> make_attention(const NodeSpec& spec) {
  const Attributes& a = *spec.attributes;
  AttentionForm form;
  const float scale = a.get_float("scale", 0.0f);
  if (scale != 0.0f) form.scale = scale;
  form.causal = get_flag(a, "is_causal", false);
  form.q_heads = a.get_int("q_num_heads", 0);
  form.kv_heads = a.get_int("kv_num_heads", 0);
  form.softcap = a.get_float("softcap", 0.0f);
  form.left_window = a.get_int("left_window_size", -1);
  form.right_window = a.get_int("right_window_size", -1);
  form.scores_mode = a.get_int("qk_matmul_output_mode", 0);
  form.gives_scores = spec.output_count > 3;
  a.ignore("softmax_precision");  // sums are of fp32 at least
  const bool cached = spec.has_input(4) || spec.has_input(5) || spec.has_input(6) || spec.output_count > 1;
  if (cached || spec.has_input(3) || form.softcap != 0.0f || form.left_window != -1 ||
      form.right_window != -1)
    return make_attention_form(spec, form);
  auto op = std::make_shared<Attention>();
  op->scale = form.scale;
  op->causal = form.causal;
  op->q_heads = form.q_heads;
  op->kv_heads = form.kv_heads;
  return op;
}

}  // namespace vellum

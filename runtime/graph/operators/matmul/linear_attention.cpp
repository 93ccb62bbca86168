// LinearAttention: each token updates a state of keys and values, and its queries read the state.
// https://onnx.ai/onnx/operators/onnx__LinearAttention.html
#include <cmath>
#include <string>
#include <vector>

#include "graph/composed.hpp"

namespace vellum {
namespace {

// The body has some ten nodes for each token.
constexpr int64_t kMostTokens = 4096;

struct LinearForm {
  int64_t q_heads = 0, kv_heads = 0;
  float scale = 0;  // 0: 1 / sqrt(channels of a key)
  bool gated = false, delta = false;
};

// The heads of one token in fp32, of shape (B, heads, rows, columns).
class Heads {
 public:
  Heads(Body& body, ValueId packed, int64_t heads, std::string_view what) : body_(body), heads_(heads) {
    shape_ = body.shape(packed);
    if (shape_.size() != 3 || heads <= 0 || shape_[2] % heads != 0)
      refuse_model("'" + std::string(what) + "' of shape " + to_string(shape_) + " has no " +
                   std::to_string(heads) + " heads");
    packed_ = body.cast(packed, DType::f32);
  }

  const Shape& shape() const { return shape_; }
  int64_t channels() const { return shape_[2] / heads_; }
  ValueId token(int64_t t, const Shape& to) const {
    return body_.reshape(body_.slice(packed_, 1, t, t + 1), to);
  }

 private:
  Body& body_;
  int64_t heads_;
  Shape shape_;
  ValueId packed_;
};

void attend(Body& body, const LinearForm& form) {
  const int64_t heads = form.kv_heads;
  const Heads query(body, body.input(0, "query"), form.q_heads, "query");
  const Heads key(body, body.input(1, "key"), heads, "key");
  const Heads value(body, body.input(2, "value"), heads, "value");
  const int64_t batch = query.shape()[0], tokens = query.shape()[1];
  const int64_t rows = key.channels(), columns = value.channels();
  if (form.q_heads % heads != 0 || query.channels() != rows || key.shape()[1] != tokens ||
      value.shape()[1] != tokens || key.shape()[0] != batch || value.shape()[0] != batch)
    refuse_model("query " + to_string(query.shape()) + ", key " + to_string(key.shape()) + " and value " +
                 to_string(value.shape()) + " do not fit each other");
  if (tokens < 1 || tokens > kMostTokens)
    refuse_unsupported(std::to_string(tokens) + " tokens; from 1 to " + std::to_string(kMostTokens) +
                       " are supported");
  const int64_t group = form.q_heads / heads;
  const Shape state_shape{batch, heads, rows, columns};
  ValueId state = kNoValue;
  if (body.has_input(3)) {
    if (body.shape(body.input(3, "past_state")) != state_shape)
      refuse_model("past_state is " + to_string(body.shape(body.input(3, "past_state"))) + ", expected " +
                   to_string(state_shape));
    state = body.cast(body.input(3, "past_state"), DType::f32);
  } else {
    state = body.constant(HostTensor(DType::f32, state_shape));
  }
  std::optional<Heads> decay, beta;
  if (form.gated) decay.emplace(body, body.input(4, "decay"), heads, "decay");
  if (form.delta) {
    const ValueId rates = body.input(5, "beta");
    const bool shared = body.shape(rates).size() == 3 && body.shape(rates)[2] == 1;
    beta.emplace(body, rates, shared ? 1 : heads, "beta");
  }
  for (const auto* each : {&decay, &beta})
    if (*each && ((*each)->shape()[0] != batch || (*each)->shape()[1] != tokens))
      refuse_model("decay or beta of shape " + to_string((*each)->shape()) + " do not fit the tokens");
  if (decay && decay->channels() != 1 && decay->channels() != rows)
    refuse_model("decay has neither one channel nor the key's");
  if (beta && beta->channels() != 1) refuse_model("beta has more than one channel");
  const double scale =
      form.scale != 0 ? static_cast<double>(form.scale) : 1 / std::sqrt(static_cast<double>(rows));
  const ValueId factor = body.scalar(DType::f32, scale);
  std::vector<ValueId> outputs;
  for (int64_t t = 0; t < tokens; ++t) {
    const ValueId k = key.token(t, {batch, heads, rows, 1});
    ValueId v = value.token(t, {batch, heads, 1, columns});
    if (decay)
      state =
          body.add("Mul", {state, body.add("Exp", {decay->token(t, {batch, heads, decay->channels(), 1})})});
    if (beta) {
      const ValueId known = body.add("MatMul", {body.reshape(k, {batch, heads, 1, rows}), state});
      const ValueId rate = beta->token(t, {batch, beta->shape()[2], 1, 1});
      v = body.add("Mul", {body.add("Sub", {v, known}), rate});
    }
    state = body.add("Add", {state, body.add("Mul", {k, v})});
    const ValueId q = body.add("Mul", {query.token(t, {batch, heads, group, rows}), factor});
    outputs.push_back(body.reshape(body.add("MatMul", {q, state}), {batch, 1, form.q_heads * columns}));
  }
  const ValueId output = tokens == 1 ? outputs[0] : body.add("Concat", outputs, {{"axis", int64_t{1}}});
  body.output(body.cast(output, body.type(body.input(0, "query")).dtype));
  const DType kept =
      body.type(body.has_input(3) ? body.input(3, "past_state") : body.input(0, "query")).dtype;
  body.output(body.cast(state, kept));
}

}  // namespace

std::shared_ptr<const Operator> make_linear_attention(const NodeSpec& spec) {
  LinearForm form;
  form.q_heads = spec.attributes->get_int("q_num_heads", 0);
  form.kv_heads = spec.attributes->get_int("kv_num_heads", 0);
  form.scale = spec.attributes->get_float("scale", 0.0f);
  spec.attributes->ignore("chunk_size");
  if (form.q_heads < 1 || form.kv_heads < 1) refuse_model("the numbers of heads are missing");
  const std::string rule = spec.attributes->get_string("update_rule", "gated_delta");
  form.gated = rule.starts_with("gated");
  form.delta = rule.ends_with("delta");
  if (rule != "linear" && !form.gated && !form.delta) refuse_model("update_rule '" + rule + "' is unknown");
  return composed(spec, [form](Body& body) { attend(body, form); });
}

}  // namespace vellum

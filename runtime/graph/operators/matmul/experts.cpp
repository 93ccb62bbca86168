// MoE of com.microsoft: a mixture of experts, of which each token uses a few.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.MoE
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "graph/composed.hpp"
#include "graph/operators/contrib_rows.hpp"

namespace vellum {
namespace {

struct ExpertForm {
  int64_t chosen = 1;  // experts of a token
  bool normalises = false;
  std::string activation;
  // Of SwiGLU, gate * sigmoid(alpha * gate) * (linear + beta).
  float alpha = 1.0f, beta = 0.0f;
  std::optional<float> limit;
  bool limits_afterwards = false;  // limits the activated gate, not the gate
  int64_t fusion =
      0;  // where fc1 has the gate and the linear part: 0: it has the gate alone; 1: in turns; 2: in halves
};

//   router_probs --> softmax --> the best `chosen` experts of each token, and their weights
//   y = sum over these experts of weight * (fc2(activation(fc1(x))) + bias)
//
// The products of few tokens read only the weights of their experts, which a gather copies. Those of many
// tokens read the weights of all experts once, and weigh the others with 0.
class ExpertBody {
 public:
  enum Input : size_t { kX, kRouter, kFc1, kFc1Bias, kFc2, kFc2Bias, kFc3, kFc3Bias };

  ExpertBody(Body& body, const ExpertForm& form) : body_(body), form_(form) {}

  void build() {
    const ValueId input = body_.input(kX, "input");
    const Shape shape = body_.shape(input), router = body_.shape(body_.input(kRouter, "router_probs"));
    if ((shape.size() != 2 && shape.size() != 3) || router.empty())
      refuse_model("MoE of an input of shape " + to_string(shape));
    width_ = shape.back();
    tokens_ = width_ == 0 ? 0 : element_count(shape) / width_;
    experts_ = router.back();
    if (element_count(router) != tokens_ * experts_ || form_.chosen < 1 || form_.chosen > experts_)
      refuse_model("router_probs of shape " + to_string(router) + " for " + std::to_string(tokens_) +
                   " tokens, of which each has " + std::to_string(form_.chosen) + " experts");
    check_weights();
    route();
    gathers_ = tokens_ * form_.chosen <= experts_;
    const ValueId hidden = activated();
    const ValueId results = product(hidden, kFc2, kFc2Bias);
    body_.output(body_.reshape(gathers_ ? sum_of_chosen(results) : sum_of_all(results), shape));
  }

 private:
  void check_weights() {
    const Shape fc1 = body_.shape(body_.input(kFc1, "fc1_experts_weights")),
                fc2 = body_.shape(body_.input(kFc2, "fc2_experts_weights"));
    const int64_t parts = form_.fusion == 0 ? 1 : 2;
    const bool fits = fc1.size() == 3 && fc2.size() == 3 && fc1[0] == experts_ && fc2[0] == experts_ &&
                      fc1[2] == width_ && fc2[1] == width_ && fc1[1] == parts * fc2[2];
    if (!fits)
      refuse_model("experts' weights of shapes " + to_string(fc1) + " and " + to_string(fc2) + " for " +
                   std::to_string(experts_) + " experts of " + std::to_string(width_) + " channels");
    if (body_.has_input(kFc3) && body_.shape(body_.input(kFc3, "fc3_experts_weights")) != fc1)
      refuse_model("fc3_experts_weights has not the shape " + to_string(fc1));
  }

  void route() {
    const ValueId router = body_.reshape(body_.input(kRouter, "router_probs"), {tokens_, experts_});
    const std::vector<ValueId> best = body_.add_several(
        "TopK", {body_.add("Softmax", {router}, {{"axis", int64_t{-1}}}), body_.ints({form_.chosen})}, 2,
        {{"axis", int64_t{-1}}});
    weights_ = best[0], indices_ = best[1];
    if (form_.normalises)
      weights_ = body_.add("Div", {weights_, body_.add("ReduceSum", {weights_, body_.ints({-1})},
                                                       {{"keepdims", int64_t{1}}})});
  }

  // Returns x as the products take it: (token and choice, channel, 1), or (1, channel, token).
  ValueId operand() {
    const ValueId x = body_.reshape(body_.input(kX, "input"), {tokens_, width_});
    if (!gathers_) return body_.reshape(body_.transpose(x, {1, 0}), {1, width_, tokens_});
    const ValueId repeated = body_.add(
        "Expand", {body_.reshape(x, {tokens_, 1, width_}), body_.ints({tokens_, form_.chosen, width_})});
    return body_.reshape(repeated, {tokens_ * form_.chosen, width_, 1});
  }

  // Returns the weights or biases of the chosen experts, or of all of them.
  ValueId of_experts(size_t input) {
    const ValueId all = body_.input(input, "an input of experts");
    if (!gathers_) return all;
    return body_.add("Gather", {all, body_.reshape(indices_, {tokens_ * form_.chosen})},
                     {{"axis", int64_t{0}}});
  }

  // Returns (expert, channel, token); with a gather (token and choice, channel, 1).
  ValueId product(ValueId x, size_t weights, size_t bias) {
    const ValueId y = body_.add("MatMul", {of_experts(weights), x});
    if (!body_.has_input(bias)) return y;
    const ValueId summand = of_experts(bias);
    Shape column = body_.shape(summand);
    column.push_back(1);
    return body_.add("Add", {y, body_.reshape(summand, column)});
  }

  ValueId activated() {
    const ValueId x = operand();
    ValueId gate = product(x, kFc1, kFc1Bias), linear = kNoValue;
    if (form_.fusion != 0) {
      const int64_t rows = body_.shape(gate)[1], step = form_.fusion == 1 ? 2 : 1, half = rows / 2;
      linear = form_.fusion == 1 ? body_.slice(gate, 1, 1, rows, step) : body_.slice(gate, 1, half, rows);
      gate = form_.fusion == 1 ? body_.slice(gate, 1, 0, rows, step) : body_.slice(gate, 1, 0, half);
    } else if (body_.has_input(kFc3)) {
      linear = product(x, kFc3, kFc3Bias);
    }
    if (form_.activation == "swiglu") return swiglu(gate, linear);
    if (form_.activation == "relu") gate = body_.add("Relu", {gate});
    if (form_.activation == "gelu") gate = body_.add("Gelu", {gate}, {{"approximate", std::string("tanh")}});
    if (form_.activation == "silu") gate = body_.add("Swish", {gate}, {{"alpha", 1.0f}});
    return linear == kNoValue ? gate : body_.add("Mul", {gate, linear});
  }

  ValueId swiglu(ValueId gate, ValueId linear) {
    const auto number = [&](float value) { return body_.scalar(body_.type(gate).dtype, double{value}); };
    if (form_.limit) {
      if (!form_.limits_afterwards) gate = body_.add("Min", {gate, number(*form_.limit)});
      linear = body_.add("Clip", {linear, number(-*form_.limit), number(*form_.limit)});
    }
    gate = body_.add("Swish", {gate}, {{"alpha", form_.alpha}});
    if (form_.limit && form_.limits_afterwards) gate = body_.add("Min", {gate, number(*form_.limit)});
    if (form_.beta != 0.0f) linear = body_.add("Add", {linear, number(form_.beta)});
    return body_.add("Mul", {gate, linear});
  }

  ValueId sum_of_chosen(ValueId results) {
    const ValueId each = body_.reshape(results, {tokens_, form_.chosen, width_});
    const ValueId weights = body_.reshape(weights_, {tokens_, form_.chosen, 1});
    return body_.add("ReduceSum", {body_.add("Mul", {each, weights}), body_.ints({1})},
                     {{"keepdims", int64_t{0}}});
  }

  ValueId sum_of_all(ValueId results) {
    const DType dtype = body_.type(results).dtype;
    const std::vector<float> zeros(Body::table_size({tokens_, experts_}));
    const ValueId none =
        body_.constant(HostTensor::from<float>(body_.type(weights_).dtype, {tokens_, experts_}, zeros));
    const ValueId routed = body_.add("ScatterElements", {none, indices_, weights_}, {{"axis", int64_t{1}}});
    const ValueId weights = body_.reshape(body_.transpose(routed, {1, 0}), {experts_, 1, tokens_});
    // Infinities of experts that a token does not use are not summed.
    const ValueId products =
        body_.add("Where", {body_.add("Equal", {weights, body_.scalar(body_.type(weights).dtype, 0.0)}),
                            body_.scalar(dtype, 0.0), body_.add("Mul", {results, weights})});
    const ValueId sums = body_.add("ReduceSum", {products, body_.ints({0})}, {{"keepdims", int64_t{0}}});
    return body_.transpose(sums, {1, 0});
  }

  Body& body_;
  const ExpertForm& form_;
  int64_t tokens_ = 0, width_ = 0, experts_ = 0;
  ValueId weights_ = kNoValue, indices_ = kNoValue;  // (token, choice)
  bool gathers_ = false;
};

}  // namespace

std::shared_ptr<const Operator> make_experts(const NodeSpec& spec) {
  const Attributes& a = *spec.attributes;
  ExpertForm form{.chosen = a.get_int("k", 1),
                  .normalises = get_flag(a, "normalize_routing_weights", false),
                  .activation = a.get_string("activation_type", "relu"),
                  .alpha = a.get_float("activation_alpha", 1.0f),
                  .beta = a.get_float("activation_beta", 0.0f),
                  .limits_afterwards = get_flag(a, "swiglu_limit_after_activation", false),
                  .fusion = a.get_int("swiglu_fusion", 0)};
  if (a.has("swiglu_limit")) form.limit = a.get_float("swiglu_limit", 0.0f);
  const bool is_gated = form.activation == "swiglu", has_fc3 = spec.has_input(ExpertBody::kFc3);
  if (!is_gated && form.activation != "relu" && form.activation != "gelu" && form.activation != "silu" &&
      form.activation != "identity")
    refuse_unsupported("MoE with the activation " + form.activation);
  if (get_flag(a, "use_sparse_mixer", false)) refuse_unsupported("MoE with a sparse mixer");
  if (form.fusion < 0 || form.fusion > 2 || (is_gated && (form.fusion == 0) != has_fc3) ||
      (!is_gated && form.fusion != 0))
    refuse_model("swiglu_fusion is " + std::to_string(form.fusion) +
                 (has_fc3 ? " with fc3" : " without fc3"));
  return composed(spec, [form](Body& body) { ExpertBody(body, form).build(); });
}

}  // namespace vellum

// MoE and QMoE of com.microsoft: a mixture of experts, of which each token uses a few.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.MoE
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "graph/composed.hpp"
#include "graph/operators/contrib_rows.hpp"
#include "graph/operators/matmul/heads.hpp"
#include "graph/operators/movement/block_gather.hpp"

namespace vellum {
namespace {

// The inputs of a layer of the experts.
struct ExpertLayer {
  size_t weights = 0, bias = 0;  // (expert, row, column) and (expert, row)
  size_t scales = 0, zeros = 0;  // of packed weights
  int64_t bits = 0;              // 0: weights are floats; 4 or 8: bytes, the lowest bits first
};

struct ExpertForm {
  ExpertLayer fc1, fc2, fc3;
  int64_t block = 0;          // columns that share a scale; 0: all of a row
  size_t router_weights = 0;  // an input with the weights of chosen experts; 0: none, router_probs has them
  int64_t chosen = 1;         // experts of a token
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
// tokens read the weights of all experts once, and weigh the others with 0. Packed weights are expanded by
// the gather, so that only those of one expert at a time, or of few tokens, exist as floats.
class ExpertBody {
 public:
  enum Input : size_t { kX, kRouter };

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
    if (gathers_) selected_ = body_.reshape(indices_, {tokens_ * form_.chosen});
    if (!gathers_ && form_.fc1.bits > 0) return body_.output(body_.reshape(sum_one_by_one(), shape));
    const ValueId results = product(activated(), form_.fc2);
    body_.output(body_.reshape(gathers_ ? sum_of_chosen(results) : sum_of_all(results), shape));
  }

 private:
  Shape shape_of(const ExpertLayer& layer, const char* what) {
    Shape shape = body_.shape(body_.input(layer.weights, what));
    if (layer.bits > 0 && !shape.empty()) shape.back() = shape.back() * 8 / layer.bits;
    return shape;
  }

  void check_weights() {
    const Shape fc1 = shape_of(form_.fc1, "fc1_experts_weights"),
                fc2 = shape_of(form_.fc2, "fc2_experts_weights");
    const int64_t parts = form_.fusion == 0 ? 1 : 2;
    const bool fits = fc1.size() == 3 && fc2.size() == 3 && fc1[0] == experts_ && fc2[0] == experts_ &&
                      fc1[2] == width_ && fc2[1] == width_ && fc1[1] == parts * fc2[2];
    if (!fits)
      refuse_model("experts' weights of shapes " + to_string(fc1) + " and " + to_string(fc2) + " for " +
                   std::to_string(experts_) + " experts of " + std::to_string(width_) + " channels");
    if (body_.has_input(form_.fc3.weights) && shape_of(form_.fc3, "fc3_experts_weights") != fc1)
      refuse_model("fc3_experts_weights has not the shape " + to_string(fc1));
  }

  void route() {
    const ValueId router = body_.reshape(body_.input(kRouter, "router_probs"), {tokens_, experts_});
    const std::vector<ValueId> best = body_.add_several(
        "TopK", {body_.add("Softmax", {router}, {{"axis", int64_t{-1}}}), body_.ints({form_.chosen})}, 2,
        {{"axis", int64_t{-1}}});
    weights_ = best[0], indices_ = best[1];
    if (form_.router_weights > 0 && body_.has_input(form_.router_weights))
      weights_ = body_.add(
          "GatherElements",
          {body_.reshape(body_.input(form_.router_weights, "router_weights"), {tokens_, experts_}), indices_},
          {{"axis", int64_t{1}}});
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

  // Returns an input of the selected experts, or of all of them.
  ValueId of_experts(size_t input) {
    const ValueId all = body_.input(input, "an input of experts");
    return selected_ == kNoValue ? all : body_.add("Gather", {all, selected_}, {{"axis", int64_t{0}}});
  }

  // Returns the weights of the selected experts, or of all of them: (expert, row, column).
  ValueId weights_of(const ExpertLayer& layer) {
    if (layer.bits == 0) return of_experts(layer.weights);
    const Shape shape = shape_of(layer, "an input of experts");
    const int64_t rows = shape[1], count = element_count(body_.shape(selected_));
    const ValueId first = body_.add(
        "Mul", {body_.cast(selected_, DType::i64), body_.scalar(DType::i64, static_cast<double>(rows))});
    const ValueId indices =
        body_.add("Add", {body_.reshape(first, {count, 1}), counted(body_, {1, rows}, 0)});
    auto gather = std::make_shared<BlockGather>();
    gather->bits = layer.bits;
    gather->block = form_.block > 0 ? form_.block : shape[2];
    gather->packed_pairs = layer.bits == 4;
    gather->is_centred = true;
    std::vector<ValueId> inputs{matrix(layer.weights), indices, matrix(layer.scales)};
    if (body_.has_input(layer.zeros)) inputs.push_back(matrix(layer.zeros));
    return body_.cast(body_.add(std::move(gather), inputs), body_.type(body_.input(kX, "input")).dtype);
  }

  // Returns a constant of packed experts as a matrix with the rows of all of them. Its data are shared.
  ValueId matrix(size_t input) {
    if (const auto found = matrices_.find(input); found != matrices_.end()) return found->second;
    const Inputs inputs = body_.rule_inputs();
    const HostTensor* tensor = inputs[input].constant;
    if (tensor == nullptr) refuse_unsupported("QMoE with weights that are computed");
    const Shape& shape = tensor->shape();
    if (shape.size() < 2 || shape[0] != experts_)
      refuse_model("an input of experts of shape " + to_string(shape));
    const int64_t columns = shape.size() == 2 ? 1 : element_count(shape) / (shape[0] * shape[1]);
    const ValueId made = body_.constant(tensor->reshaped({shape[0] * shape[1], columns}));
    return matrices_.emplace(input, made).first->second;
  }

  // Returns (expert, channel, token); with a gather (token and choice, channel, 1).
  ValueId product(ValueId x, const ExpertLayer& layer) {
    const ValueId y = body_.add("MatMul", {weights_of(layer), x});
    if (!body_.has_input(layer.bias)) return y;
    const ValueId summand = of_experts(layer.bias);
    Shape column = body_.shape(summand);
    column.push_back(1);
    return body_.add("Add", {y, body_.reshape(summand, column)});
  }

  ValueId activated() {
    const ValueId x = operand();
    ValueId gate = product(x, form_.fc1), linear = kNoValue;
    if (form_.fusion != 0) {
      const int64_t rows = body_.shape(gate)[1], step = form_.fusion == 1 ? 2 : 1, half = rows / 2;
      linear = form_.fusion == 1 ? body_.slice(gate, 1, 1, rows, step) : body_.slice(gate, 1, half, rows);
      gate = form_.fusion == 1 ? body_.slice(gate, 1, 0, rows, step) : body_.slice(gate, 1, 0, half);
    } else if (body_.has_input(form_.fc3.weights)) {
      linear = product(x, form_.fc3);
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

  // Returns the weight of each expert for each token, (expert, 1, token), 0 where it is not chosen.
  ValueId routed_weights() {
    const std::vector<float> zeros(Body::table_size({tokens_, experts_}));
    const ValueId none =
        body_.constant(HostTensor::from<float>(body_.type(weights_).dtype, {tokens_, experts_}, zeros));
    const ValueId routed = body_.add("ScatterElements", {none, indices_, weights_}, {{"axis", int64_t{1}}});
    return body_.reshape(body_.transpose(routed, {1, 0}), {experts_, 1, tokens_});
  }

  // Infinities of experts that a token does not use are not summed.
  ValueId weighted(ValueId results, ValueId weights) {
    return body_.add("Where",
                     {body_.add("Equal", {weights, body_.scalar(body_.type(weights).dtype, 0.0)}),
                      body_.scalar(body_.type(results).dtype, 0.0), body_.add("Mul", {results, weights})});
  }

  ValueId sum_of_all(ValueId results) {
    const ValueId products = weighted(results, routed_weights());
    const ValueId sums = body_.add("ReduceSum", {products, body_.ints({0})}, {{"keepdims", int64_t{0}}});
    return body_.transpose(sums, {1, 0});
  }

  // Adds up the results of one expert after another, those of the largest weights first. Their order is a
  // value of the run, so that the expanded weights do not become constants.
  ValueId sum_one_by_one() {
    const ValueId routed = routed_weights();
    const ValueId largest =
        body_.add("ReduceMax", {body_.reshape(routed, {experts_, tokens_}), body_.ints({1})},
                  {{"keepdims", int64_t{0}}});
    const ValueId order =
        body_.add_several("TopK", {largest, body_.ints({experts_})}, 2, {{"axis", int64_t{0}}})[1];
    ValueId sum = kNoValue;
    for (int64_t i = 0; i < experts_; ++i) {
      selected_ = body_.slice(order, 0, i, i + 1);
      const ValueId results = product(activated(), form_.fc2);
      const ValueId products =
          weighted(results, body_.add("Gather", {routed, selected_}, {{"axis", int64_t{0}}}));
      sum = sum == kNoValue ? products : body_.add("Add", {sum, products});
    }
    return body_.transpose(body_.reshape(sum, {width_, tokens_}), {1, 0});
  }

  Body& body_;
  const ExpertForm& form_;
  int64_t tokens_ = 0, width_ = 0, experts_ = 0;
  ValueId weights_ = kNoValue, indices_ = kNoValue;  // (token, choice)
  bool gathers_ = false;
  std::map<size_t, ValueId> matrices_;  // by input
  ValueId selected_ = kNoValue;         // the experts whose weights are read; kNoValue: all
};

}  // namespace

namespace {

ExpertForm form_of(const NodeSpec& spec) {
  const Attributes& a = *spec.attributes;
  ExpertForm form{.chosen = a.get_int("k", 1),
                  .normalises = get_flag(a, "normalize_routing_weights", false),
                  .activation = a.get_string("activation_type", "relu"),
                  .alpha = a.get_float("activation_alpha", 1.0f),
                  .beta = a.get_float("activation_beta", 0.0f),
                  .limits_afterwards = get_flag(a, "swiglu_limit_after_activation", false),
                  .fusion = a.get_int("swiglu_fusion", 0)};
  if (a.has("swiglu_limit")) form.limit = a.get_float("swiglu_limit", 0.0f);
  return form;
}

void check_form(const NodeSpec& spec, const ExpertForm& form) {
  const bool is_gated = form.activation == "swiglu", has_fc3 = spec.has_input(form.fc3.weights);
  if (!is_gated && form.activation != "relu" && form.activation != "gelu" && form.activation != "silu" &&
      form.activation != "identity")
    refuse_unsupported("MoE with the activation " + form.activation);
  if (get_flag(*spec.attributes, "use_sparse_mixer", false)) refuse_unsupported("MoE with a sparse mixer");
  if (form.fusion < 0 || form.fusion > 2 || (is_gated && (form.fusion == 0) != has_fc3) ||
      (!is_gated && form.fusion != 0))
    refuse_model("swiglu_fusion is " + std::to_string(form.fusion) +
                 (has_fc3 ? " with fc3" : " without fc3"));
}

void check_packing(const NodeSpec& spec, const ExpertForm& form) {
  const std::string type = spec.attributes->get_string("quant_type", "int");
  if (type != "int") refuse_unsupported("QMoE with weights of the type " + type);
  if (spec.attributes->get_int("weights_prepacked", -1) == 1)
    refuse_unsupported("QMoE with weights in the order of another runtime");
  for (const ExpertLayer* layer : {&form.fc1, &form.fc2, &form.fc3}) {
    if (layer->bits != 4 && layer->bits != 8)
      refuse_unsupported("QMoE of " + std::to_string(layer->bits) + " bits");
    if (spec.has_input(layer->weights) && !spec.has_input(layer->scales))
      refuse_model("QMoE with weights without scales");
    if (form.block == 0 && spec.has_input(layer->zeros))
      refuse_unsupported("QMoE with zero points of whole rows");
  }
  for (size_t input = 15; input <= 20; ++input)
    if (spec.has_input(input)) refuse_unsupported("QMoE with scales of activations or experts");
}

}  // namespace

std::shared_ptr<const Operator> make_experts(const NodeSpec& spec) {
  ExpertForm form = form_of(spec);
  form.fc1 = {.weights = 2, .bias = 3};
  form.fc2 = {.weights = 4, .bias = 5};
  form.fc3 = {.weights = 6, .bias = 7};
  check_form(spec, form);
  return composed(spec, [form](Body& body) { ExpertBody(body, form).build(); });
}

std::shared_ptr<const Operator> make_packed_experts(const NodeSpec& spec) {
  const Attributes& a = *spec.attributes;
  const int64_t bits = a.get_int("expert_weight_bits", 4);
  const auto bits_of = [&](const char* layer) { return a.get_int(layer, bits); };
  ExpertForm form = form_of(spec);
  form.fc1 = {2, 4, 3, 11, bits_of("fc1_expert_weight_bits")};
  form.fc2 = {5, 7, 6, 12, bits_of("fc2_expert_weight_bits")};
  form.fc3 = {8, 10, 9, 13, bits_of("fc3_expert_weight_bits")};
  form.block = a.get_int("block_size", 0);
  form.router_weights = 14;
  a.ignore("accuracy_level");  // how exactly ONNX Runtime may compute
  check_form(spec, form);
  check_packing(spec, form);
  return composed(spec, [form](Body& body) { ExpertBody(body, form).build(); });
}

}  // namespace vellum

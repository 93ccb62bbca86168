#include "graph/operators/contrib.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "graph/composed.hpp"
#include "graph/operators/contrib_rows.hpp"

namespace vellum {

std::shared_ptr<const Operator> standard_operator(const NodeSpec& spec, std::string_view type, size_t inputs,
                                                  std::initializer_list<std::string_view> without) {
  Attributes attributes;
  for (const auto& [name, value] : spec.attributes->values()) {
    spec.attributes->ignore(name);
    if (std::find(without.begin(), without.end(), name) == without.end()) attributes.set(name, value);
  }
  constexpr int kOpset = 17;
  NodeSpec plain{.type = std::string(type), .name = spec.name, .opset = kOpset, .attributes = &attributes};
  for (size_t i = 0; i < inputs; ++i) plain.input_present.push_back(spec.has_input(i));
  return make_operator(plain);
}

namespace {

std::vector<ValueId> first_inputs(const Body& body, size_t count) {
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < count; ++i) inputs.push_back(body.optional_input(i));
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
  return inputs;
}

struct FusedActivation {
  std::string type;
  Attributes::Floats parameters;

  ValueId apply(Body& body, ValueId x) const {
    const auto parameter = [&](size_t i) {
      if (i >= parameters.size()) refuse_model("the activation " + type + " lacks a parameter");
      return parameters[i];
    };
    if (type.empty()) return x;
    if (type == "Relu" || type == "Tanh" || type == "Sigmoid") return body.add(type, {x});
    if (type == "LeakyRelu") return body.add(type, {x}, {{"alpha", parameter(0)}});
    if (type == "HardSigmoid") return body.add(type, {x}, {{"alpha", parameter(0)}, {"beta", parameter(1)}});
    if (type != "Clip") refuse_unsupported("the activation '" + type + "'");
    const DType dtype = body.type(x).dtype;
    return body.add(type, {x, body.scalar(dtype, static_cast<double>(parameter(0))),
                           body.scalar(dtype, static_cast<double>(parameter(1)))});
  }
};

std::shared_ptr<const Operator> make_fused_conv(const NodeSpec& spec) {
  const FusedActivation activation{spec.attributes->get_string("activation", ""),
                                   spec.attributes->get_floats("activation_params")};
  const auto conv = standard_operator(spec, "Conv", 3, {"activation", "activation_params"});
  return composed(spec, [=](Body& body) {
    ValueId y = body.add(conv, first_inputs(body, 3));
    if (body.has_input(3)) y = body.add("Add", {y, body.input(3, "Z")});
    body.output(activation.apply(body, y));
  });
}

std::shared_ptr<const Operator> make_fused_gemm(const NodeSpec& spec) {
  const Attributes& a = *spec.attributes;
  FusedActivation activation{a.get_string("activation", ""), {}};
  for (const char* name : {"activation_alpha", "activation_beta"})
    if (a.has(name)) activation.parameters.push_back(a.get_float(name, 0.0f));
  const auto gemm = standard_operator(spec, "Gemm", 3, {"activation", "activation_alpha", "activation_beta"});
  return composed(
      spec, [=](Body& body) { body.output(activation.apply(body, body.add(gemm, first_inputs(body, 3)))); });
}

Ints axes_in_order(const Body& body, ValueId x) {
  Ints axes(body.shape(x).size());
  std::iota(axes.begin(), axes.end(), int64_t{0});
  return axes;
}

ValueId matrix_transposed(Body& body, ValueId x) {
  Ints order = axes_in_order(body, x);
  if (order.size() < 2) return x;
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return body.transpose(x, order);
}

// (M, batches, K) as (batches, M, K).
ValueId batches_transposed(Body& body, ValueId x) {
  Ints order = axes_in_order(body, x);
  if (order.size() < 3) return x;
  std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  return body.transpose(x, order);
}

std::shared_ptr<const Operator> make_fused_matmul(const NodeSpec& spec) {
  struct Transposed {
    bool batches, matrix;
    ValueId of(Body& body, ValueId x) const {
      if (batches) x = batches_transposed(body, x);
      return matrix ? matrix_transposed(body, x) : x;
    }
  };
  const Attributes& a = *spec.attributes;
  const float alpha = a.get_float("alpha", 1.0f);
  const Transposed of_a{get_flag(a, "transBatchA", false), get_flag(a, "transA", false)},
      of_b{get_flag(a, "transBatchB", false), get_flag(a, "transB", false)};
  return composed(spec, [=](Body& body) {
    const ValueId y =
        body.add("MatMul", {of_a.of(body, body.input(0, "A")), of_b.of(body, body.input(1, "B"))});
    const ValueId factor = body.scalar(body.type(y).dtype, static_cast<double>(alpha));
    body.output(alpha == 1.0f ? y : body.add("Mul", {y, factor}));
  });
}

// Gelu, BiasGelu and FastGelu, whose second input, if any, is added first.
std::shared_ptr<const Operator> make_bias_gelu(const NodeSpec& spec) {
  const bool fast = spec.type.ends_with("FastGelu");
  return composed(spec, [fast](Body& body) {
    ValueId x = body.input(0, "X");
    if (body.has_input(1)) x = body.add("Add", {x, body.input(1, "bias")});
    body.output(body.add("Gelu", {x}, {{"approximate", std::string(fast ? "tanh" : "none")}}));
  });
}

std::shared_ptr<const Operator> make_quick_gelu(const NodeSpec& spec) {
  const float alpha = spec.attributes->get_float("alpha", 1.702f);
  return composed(spec, [alpha](Body& body) {
    body.output(body.add("Swish", {body.input(0, "X")}, {{"alpha", alpha}}));
  });
}

std::shared_ptr<const Operator> make_bias_add(const NodeSpec& spec) {
  return composed(spec, [](Body& body) {
    const ValueId y = body.add("Add", {body.input(0, "X"), body.input(1, "bias")});
    body.output(body.add("Add", {y, body.input(2, "skip")}));
  });
}

// The first half of the channels times Gelu of the second half.
std::shared_ptr<const Operator> make_bias_split_gelu(const NodeSpec& spec) {
  return composed(spec, [](Body& body) {
    const ValueId x = body.add("Add", {body.input(0, "X"), body.input(1, "bias")});
    const Shape shape = body.shape(x);
    if (shape.empty() || shape.back() % 2 != 0)
      refuse_model("X of shape " + to_string(shape) + " has no two halves");
    const int64_t half = shape.back() / 2;
    const ValueId gate = body.add("Gelu", {body.slice(x, -1, half, 2 * half)});
    body.output(body.add("Mul", {body.slice(x, -1, 0, half), gate}));
  });
}

// The mean of the last dimension and 1 / deviation, or for RMSNormalization zeros and 1 / the root of the
// mean square, as ONNX Runtime computes them.
std::array<ValueId, 2> statistics(Body& body, ValueId x, bool centred, float epsilon) {
  const auto mean_of = [&](ValueId value) {
    return body.add("ReduceMean", {value}, {{"axes", Ints{-1}}, {"keepdims", int64_t{1}}});
  };
  const DType dtype = body.type(x).dtype;
  ValueId mean = mean_of(x);
  const ValueId difference = centred ? body.add("Sub", {x, mean}) : x;
  if (!centred) mean = body.add("Mul", {mean, body.scalar(dtype, 0.0)});
  const ValueId variance = mean_of(body.add("Mul", {difference, difference}));
  const ValueId least = body.scalar(dtype, static_cast<double>(epsilon));
  const ValueId inverse = body.add("Reciprocal", {body.add("Sqrt", {body.add("Add", {variance, least})})});
  return {body.cast(mean, DType::f32), body.cast(inverse, DType::f32)};
}

// LayerNormalization or RMSNormalization of the sum of input, skip and bias. Outputs: the result, the
// statistics, the sum.
std::shared_ptr<const Operator> make_skip_norm(const NodeSpec& spec) {
  const bool centred = !spec.type.ends_with("SkipSimplifiedLayerNormalization");
  const float epsilon = spec.attributes->get_float("epsilon", 1e-5f);
  return composed(spec, [=, outputs = spec.output_count](Body& body) {
    ValueId sum = body.add("Add", {body.input(0, "input"), body.input(1, "skip")});
    const size_t bias = centred ? 4 : 3;
    if (body.has_input(bias)) sum = body.add("Add", {sum, body.input(bias, "bias")});
    std::vector<ValueId> inputs{sum, body.input(2, "gamma")};
    if (centred && body.has_input(3)) inputs.push_back(body.input(3, "beta"));
    body.output(
        body.add(centred ? "LayerNormalization" : "RMSNormalization", inputs, {{"epsilon", epsilon}}));
    if (outputs < 2) return;
    for (const ValueId value : statistics(body, sum, centred, epsilon)) body.output(value);
    body.output(sum);
  });
}

std::shared_ptr<const Operator> make_simplified_norm(const NodeSpec& spec) {
  if (spec.output_count > 1) refuse_unsupported("SimplifiedLayerNormalization with its deviation");
  return standard_operator(spec, "RMSNormalization", 2, {});
}

// (N, H, W, C) as (N, C, H, W), and back.
ValueId channels_first(Body& body, ValueId x) {
  if (body.shape(x).size() != 4) refuse_unsupported("other than images in the order N, H, W, C");
  return body.transpose(x, {0, 3, 1, 2});
}
ValueId channels_last(Body& body, ValueId x) { return body.transpose(x, {0, 2, 3, 1}); }

// The attributes of GroupNorm: a group normalisation, by default in the order N, H, W, C, with an optional
// Silu.
struct ContribGroupNorm {
  explicit ContribGroupNorm(const Attributes& a)
      : epsilon(a.get_float("epsilon", 1e-5f)),
        groups(a.get_int("groups", 0)),
        activation(a.get_int("activation", 0)),
        has_channels_last(get_flag(a, "channels_last", true)) {}

  // Normalises x with the inputs gamma and beta.
  ValueId of(Body& body, ValueId x) const {
    if (body.shape(x).size() != 4) refuse_model("X has not four dimensions");
    if (has_channels_last) x = channels_first(body, x);
    ValueId y = body.add("GroupNormalization", {x, body.input(1, "gamma"), body.input(2, "beta")},
                         {{"num_groups", groups}, {"epsilon", epsilon}});
    if (activation != 0) y = body.add("Silu", {y});
    return has_channels_last ? channels_last(body, y) : y;
  }

  float epsilon;
  int64_t groups, activation;
  bool has_channels_last;
};

std::shared_ptr<const Operator> make_contrib_group_norm(const NodeSpec& spec) {
  const ContribGroupNorm norm(*spec.attributes);
  return composed(spec, [norm](Body& body) { body.output(norm.of(body, body.input(0, "X"))); });
}

// GroupNorm of X + skip + bias, which is the second output. A skip of (N, C) or (N, 1, 1, C) is added to each
// pixel.
std::shared_ptr<const Operator> make_skip_group_norm(const NodeSpec& spec) {
  const ContribGroupNorm norm(*spec.attributes);
  return composed(spec, [norm, outputs = spec.output_count](Body& body) {
    if (!norm.has_channels_last) refuse_unsupported("SkipGroupNorm in the order N, C, H, W");
    ValueId skip = body.input(3, "skip");
    if (const Shape of = body.shape(skip); of.size() == 2) skip = body.reshape(skip, {of[0], 1, 1, of[1]});
    ValueId sum = body.add("Add", {body.input(0, "X"), skip});
    if (body.has_input(4)) sum = body.add("Add", {sum, body.input(4, "bias")});
    body.output(norm.of(body, sum));
    if (outputs > 1) body.output(sum);
  });
}

std::shared_ptr<const Operator> make_nhwc_max_pool(const NodeSpec& spec) {
  const auto pool = standard_operator(spec, "MaxPool", 1, {});
  return composed(spec, [pool](Body& body) {
    body.output(channels_last(body, body.add(pool, {channels_first(body, body.input(0, "x"))})));
  });
}

// A Conv whose weights have their channels last, too: (M, kernel height, kernel width, C / group).
std::shared_ptr<const Operator> make_nhwc_conv(const NodeSpec& spec) {
  const auto conv = standard_operator(spec, "Conv", 3, {});
  return composed(spec, [conv](Body& body) {
    std::vector<ValueId> inputs{channels_first(body, body.input(0, "X")),
                                channels_first(body, body.input(1, "W"))};
    if (body.has_input(2)) inputs.push_back(body.input(2, "B"));
    body.output(channels_last(body, body.add(conv, std::move(inputs))));
  });
}

std::shared_ptr<const Operator> make_same(const NodeSpec& spec) {
  return standard_operator(spec, spec.type.substr(kContribPrefix.size()), spec.input_present.size(), {});
}

constexpr ContribRow kContribOperators[] = {
    {"com.microsoft.FusedConv", make_fused_conv},
    {"com.microsoft.FusedGemm", make_fused_gemm},
    {"com.microsoft.FusedMatMul", make_fused_matmul},
    {"com.microsoft.Gelu", make_bias_gelu},
    {"com.microsoft.BiasGelu", make_bias_gelu},
    {"com.microsoft.FastGelu", make_bias_gelu},
    {"com.microsoft.QuickGelu", make_quick_gelu},
    {"com.microsoft.BiasAdd", make_bias_add},
    {"com.microsoft.BiasSplitGelu", make_bias_split_gelu},
    {"com.microsoft.SkipLayerNormalization", make_skip_norm},
    {"com.microsoft.SkipSimplifiedLayerNormalization", make_skip_norm},
    {"com.microsoft.SimplifiedLayerNormalization", make_simplified_norm},
    {"com.microsoft.MoE", make_experts},
    {"com.microsoft.QMoE", make_packed_experts},
    {"com.microsoft.GroupNorm", make_contrib_group_norm},
    {"com.microsoft.SkipGroupNorm", make_skip_group_norm},
    {"com.microsoft.NhwcConv", make_nhwc_conv},
    {"com.microsoft.NhwcMaxPool", make_nhwc_max_pool},
    {"com.microsoft.QuantizeLinear", make_same},
    {"com.microsoft.DequantizeLinear", make_same},
};

std::array<std::span<const ContribRow>, 3> tables() {
  return {kContribOperators, attention_contrib_operators(), quantised_contrib_operators()};
}

}  // namespace

MakeOperator find_contrib_operator(std::string_view type) {
  for (const auto rows : tables())
    for (const ContribRow& row : rows)
      if (row.type == type) return row.maker;
  return nullptr;
}

std::vector<std::string_view> contrib_operator_types() {
  std::vector<std::string_view> types;
  for (const auto rows : tables())
    for (const ContribRow& row : rows) types.push_back(row.type);
  return types;
}

}  // namespace vellum

// The two products of FlexAttention. The importer makes them, with the model's graphs and a Softmax between
// them.
// https://onnx.ai/onnx/operators/onnx_aionnxpreview_FlexAttention.html
#include <cmath>
#include <string>

#include "graph/composed.hpp"
#include "graph/onnx_types.hpp"

namespace vellum {
namespace {

struct FlexForm {
  std::optional<float> scale;
  std::optional<DType> precision;

  DType softmax_type(DType dtype) const {
    return precision.value_or(dtype == DType::f64 ? DType::f64 : DType::f32);
  }
};

FlexForm read_form(const NodeSpec& spec) {
  FlexForm form;
  if (spec.attributes->has("scale")) form.scale = spec.attributes->get_float("scale", 1.0f);
  if (spec.attributes->has("softmax_precision"))
    form.precision = dtype_from_onnx(spec.attributes->get_int("softmax_precision", 1));
  return form;
}

// A tensor (B, heads, ...) with each head as often as queries share it.
ValueId repeat_heads(Body& body, ValueId x, int64_t heads) {
  const Shape shape = body.shape(x);
  if (shape[1] == heads) return x;
  if (shape[1] < 1 || heads % shape[1] != 0)
    refuse_model(std::to_string(heads) + " heads of queries cannot share " + std::to_string(shape[1]));
  const ValueId wide = body.reshape(x, {shape[0], shape[1], 1, shape[2], shape[3]});
  const Ints expanded{shape[0], shape[1], heads / shape[1], shape[2], shape[3]};
  return body.reshape(body.add("Expand", {wide, body.ints(expanded)}), {shape[0], heads, shape[2], shape[3]});
}

Shape rank_four(const Body& body, ValueId x) {
  if (body.shape(x).size() != 4)
    refuse_model("an input has shape " + to_string(body.shape(x)) + ", expected four dimensions");
  return body.shape(x);
}

}  // namespace

// Inputs Q, K. Output: the scaled scores, in the type of the softmax.
std::shared_ptr<const Operator> make_flex_scores(const NodeSpec& spec) {
  return composed(spec, [form = read_form(spec)](Body& body) {
    const ValueId q = body.input(0, "Q"), k = body.input(1, "K");
    const Shape shape = rank_four(body, q);
    rank_four(body, k);
    const DType dtype = form.softmax_type(body.type(q).dtype);
    const double scale =
        form.scale ? static_cast<double>(*form.scale) : 1 / std::sqrt(static_cast<double>(shape[3]));
    const ValueId keys = body.transpose(repeat_heads(body, body.cast(k, dtype), shape[1]), {0, 1, 3, 2});
    const ValueId scores = body.add("MatMul", {body.cast(q, dtype), keys});
    body.output(body.add("Mul", {scores, body.scalar(dtype, scale)}));
  });
}

// Inputs probabilities, V.
std::shared_ptr<const Operator> make_flex_values(const NodeSpec& spec) {
  return composed(spec, [form = read_form(spec)](Body& body) {
    const ValueId p = body.input(0, "probabilities"), v = body.input(1, "V");
    const Shape shape = rank_four(body, p);
    rank_four(body, v);
    const DType dtype = body.type(p).dtype;
    const ValueId values = repeat_heads(body, body.cast(v, dtype), shape[1]);
    body.output(body.cast(body.add("MatMul", {p, values}), body.type(v).dtype));
  });
}

}  // namespace vellum

#include "graph/operators/matmul/decomposed_attention.hpp"

#include <cmath>
#include <string>

namespace vellum {

void DecomposedAttention::build(Body& body) {
  const Shape qs = body.shape(q), ks = body.shape(k), vs = body.shape(v);
  const DType dtype = body.type(q).dtype;
  if (ks[1] == 0 || qs[1] % ks[1] != 0) refuse_model("the heads of Q are no multiple of those of K");
  const double factor = scale != 0.0 ? scale : 1.0 / std::sqrt(static_cast<double>(qs[3]));
  // Consecutive heads of Q share one head of K and V: their queries are rows of one product.
  const int64_t rows = qs[1] / ks[1] * qs[2];
  const ValueId scaled = body.add("Mul", {q, body.scalar(dtype, factor)});
  scores = body.add("MatMul",
                    {body.reshape(scaled, {qs[0], ks[1], rows, qs[3]}), body.transpose(k, {0, 1, 3, 2})});
  scores = body.reshape(scores, {qs[0], qs[1], qs[2], ks[2]});
  capped = scores;
  if (softcap != 0.0f) {
    const ValueId cap = body.scalar(dtype, static_cast<double>(softcap));
    capped = body.add("Mul", {body.add("Tanh", {body.add("Div", {scores, cap})}), cap});
  }
  masked = capped;
  if (mask != kNoValue) {
    const bool excludes = body.type(mask).dtype == DType::boolean;
    masked = excludes ? body.add("Where", {mask, capped, body.scalar(dtype, -INFINITY)})
                      : body.add("Add", {capped, mask});
  }
  weights = softmax(body);
  result = body.reshape(body.add("MatMul", {body.reshape(weights, {qs[0], ks[1], rows, ks[2]}), v}),
                        {qs[0], qs[1], qs[2], vs[3]});
}

ValueId DecomposedAttention::softmax(Body& body) const {
  const DType dtype = body.type(masked).dtype;
  const Shape shape = body.shape(masked);
  if (sink != kNoValue) {
    if (element_count(body.shape(sink)) != shape[1])
      refuse_model("head_sink of shape " + to_string(body.shape(sink)) + " has not one element for each of " +
                   std::to_string(shape[1]) + " heads");
    const ValueId of_heads = body.cast(body.reshape(sink, {1, shape[1], 1, 1}), dtype);
    const ValueId column = body.add("Expand", {of_heads, body.ints({shape[0], shape[1], shape[2], 1})});
    const ValueId all = body.add("Softmax", {body.add("Concat", {masked, column}, {{"axis", int64_t{3}}})},
                                 {{"axis", int64_t{3}}});
    return body.slice(all, 3, 0, shape[3]);
  }
  const ValueId all = body.add("Softmax", {masked}, {{"axis", int64_t{3}}});
  if (mask == kNoValue) return all;
  // A query that may attend to no key has the result 0.
  const ValueId most = body.add("ReduceMax", {masked}, {{"axes", Ints{3}}});
  const ValueId none = body.add("Equal", {most, body.scalar(dtype, -INFINITY)});
  return body.add("Where", {none, body.scalar(dtype, 0.0), all});
}

}  // namespace vellum

#include "graph/operators/movement/cache_update.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "graph/operators/movement/tensor_scatter.hpp"

namespace vellum {
namespace {

TensorScatter scatter_of(const CacheUpdate& update) {
  TensorScatter scatter;
  scatter.axis = update.axis;
  return scatter;
}

// Returns the integers of 8 or 4 bits of floats that are divided by the scale.
HostTensor quantised(const CacheUpdate& update, const HostTensor& floats, const HostTensor& scale,
                     const TensorScatter::Extents& e) {
  const std::vector<float> values = floats.to_floats(), scales = scale.to_floats();
  const float most = update.rows == RowFormat::nibbles ? 7.0f : 127.0f;
  const auto inner = static_cast<size_t>(e.inner * update.channels_of_byte()),
             group = inner * static_cast<size_t>(e.tokens);
  std::vector<int64_t> integers(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t channel = i / group % static_cast<size_t>(e.outer) * inner + i % inner;
    const float quotient = values[i] / scales[scales.size() == 1 ? 0 : channel];
    const float bounded = std::clamp(std::isnan(quotient) ? 0.0f : quotient, -most - 1.0f, most);
    integers[i] = static_cast<int64_t>(std::nearbyint(bounded));
  }
  return HostTensor::from<int64_t>(DType::i8, floats.shape(), integers);
}

HostTensor pack_pairs(const HostTensor& integers, const Shape& shape) {
  const std::vector<int64_t> values = integers.to_ints();
  std::vector<int64_t> bytes(values.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = values[2 * i] + 8 + 16 * (values[2 * i + 1] + 8);
  return HostTensor::from<int64_t>(DType::u8, shape, bytes);
}

}  // namespace

Shape CacheUpdate::shape_in_words() const {
  return packs_integers() ? packed_bytes_shape(cache_type.shape)
                          : byte_rows_shape(cache_type.shape, channels);
}

Shape CacheUpdate::shape_in_cache(Shape update, bool quantises) const {
  if (quantises && !update.empty()) update.back() /= channels_of_byte();
  return update;
}

std::vector<TensorType> CacheUpdate::infer(Inputs inputs) const {
  const TensorType& cache = input_type(inputs, 0, "cache");
  const bool quantises = packs_integers() && inputs.size() > 3;
  const TensorType& update = packs_integers() && !quantises ? input_type(inputs, 1, "update")
                                                            : float_input_type(inputs, 1, "update");
  input_type(inputs, 2, "first_tokens");
  if (packs_integers() && !quantises && (update.dtype != cache_type.dtype || size_of(update.dtype) != 1))
    refuse_model("tokens of " + to_string(update) + " for a cache of " + to_string(cache_type));
  const Shape& whole = cache_type.shape;
  if (channels <= 0 || channels % 4 != 0 || whole.empty() || whole.back() % channels != 0)
    refuse_model("rows of " + std::to_string(channels) + " channels do not divide a cache of " +
                 to_string(whole));
  if (normalize_axis(axis, whole.size()) + 1 >= whole.size())
    refuse_model("the tokens of a cache are its last dimension");
  if (cache != TensorType{DType::i32, shape_in_words()})
    refuse_model("the cache is " + to_string(cache) + ", not " + to_string(cache_type) + " in words");
  const Shape bytes = shape_in_cache(update.shape, quantises);
  scatter_of(*this).infer(
      std::vector<OperatorInput>{{true, cache_type}, {true, {cache_type.dtype, bytes}}, inputs[2]});
  if (quantises) check_scale(float_input_type(inputs, 3, "scale").shape, update.shape, bytes);
  return {cache};
}

void CacheUpdate::check_scale(const Shape& scale, const Shape& update, const Shape& bytes) const {
  const TensorScatter::Extents e = scatter_of(*this).extents(cache_type.shape, bytes);
  const int64_t count = element_count(scale), all = e.outer * e.inner * channels_of_byte();
  if (update.back() != bytes.back() * channels_of_byte() || (count != 1 && count != all))
    refuse_model("a scale of " + to_string(scale) + " for tokens of " + to_string(update));
}

std::vector<HostTensor> CacheUpdate::evaluate(HostInputs inputs) const {
  infer_known(*this, inputs);
  const HostTensor update = words_of_update(inputs);
  return scatter_of(*this).evaluate(std::vector<const HostTensor*>{inputs[0], &update, inputs[2]});
}

HostTensor CacheUpdate::words_of_update(HostInputs inputs) const {
  if (!packs_integers()) return to_byte_rows(*inputs[1], channels);
  if (inputs.size() < 4) return pack_bytes(*inputs[1]);
  const Shape bytes = shape_in_cache(inputs[1]->shape(), true);
  const HostTensor integers =
      quantised(*this, *inputs[1], *inputs[3], scatter_of(*this).extents(cache_type.shape, bytes));
  return pack_bytes(rows == RowFormat::nibbles ? pack_pairs(integers, bytes) : integers);
}

Attributes CacheUpdate::attributes() const {
  Attributes result;
  result.set("axis", axis);
  result.set("channels", channels);
  result.set("shape", cache_type.shape);
  if (packs_integers()) result.set("rows", static_cast<int64_t>(rows));
  return result;
}

std::shared_ptr<const Operator> make_cache_update(const NodeSpec&) {
  refuse_model("CacheUpdate is no operator of models: a cache in words is made of TensorScatter");
}

}  // namespace vellum

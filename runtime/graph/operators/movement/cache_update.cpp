#include "graph/operators/movement/cache_update.hpp"

#include <memory>

#include "graph/operators/movement/tensor_scatter.hpp"

namespace vellum {
namespace {

TensorScatter scatter_of(const CacheUpdate& update) {
  TensorScatter scatter;
  scatter.axis = update.axis;
  return scatter;
}

}  // namespace

Shape CacheUpdate::shape_in_words() const {
  return packs_integers() ? packed_bytes_shape(cache_type.shape)
                          : byte_rows_shape(cache_type.shape, channels);
}

std::vector<TensorType> CacheUpdate::infer(Inputs inputs) const {
  const TensorType& cache = input_type(inputs, 0, "cache");
  const TensorType& update =
      packs_integers() ? input_type(inputs, 1, "update") : float_input_type(inputs, 1, "update");
  input_type(inputs, 2, "first_tokens");
  if (packs_integers() && (update.dtype != cache_type.dtype || size_of(update.dtype) != 1))
    refuse_model("tokens of " + to_string(update) + " for a cache of " + to_string(cache_type));
  const Shape& whole = cache_type.shape;
  if (channels <= 0 || channels % 4 != 0 || whole.empty() || whole.back() % channels != 0)
    refuse_model("rows of " + std::to_string(channels) + " channels do not divide a cache of " +
                 to_string(whole));
  if (normalize_axis(axis, whole.size()) + 1 >= whole.size())
    refuse_model("the tokens of a cache are its last dimension");
  if (cache != TensorType{DType::i32, shape_in_words()})
    refuse_model("the cache is " + to_string(cache) + ", not " + to_string(cache_type) + " in words");
  scatter_of(*this).infer(
      std::vector<OperatorInput>{{true, cache_type}, {true, {cache_type.dtype, update.shape}}, inputs[2]});
  return {cache};
}

std::vector<HostTensor> CacheUpdate::evaluate(HostInputs inputs) const {
  infer_known(*this, inputs);
  const HostTensor update = packs_integers() ? pack_bytes(*inputs[1]) : to_byte_rows(*inputs[1], channels);
  return scatter_of(*this).evaluate(std::vector<const HostTensor*>{inputs[0], &update, inputs[2]});
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

#include "graph/operators/movement/cache_update.hpp"

#include <memory>

#include "graph/byte_rows.hpp"
#include "graph/operators/movement/tensor_scatter.hpp"

namespace vellum {
namespace {

TensorScatter scatter_of(const CacheUpdate& update) {
  TensorScatter scatter;
  scatter.axis = update.axis;
  return scatter;
}

}  // namespace

std::vector<TensorType> CacheUpdate::infer(Inputs inputs) const {
  const TensorType& cache = input_type(inputs, 0, "cache");
  const Shape& update = float_input_type(inputs, 1, "update").shape;
  input_type(inputs, 2, "first_tokens");
  if (channels <= 0 || channels % 4 != 0 || floats.shape.empty() || floats.shape.back() % channels != 0)
    refuse_model("rows of " + std::to_string(channels) + " channels do not divide a cache of " +
                 to_string(floats.shape));
  if (normalize_axis(axis, floats.shape.size()) + 1 >= floats.shape.size())
    refuse_model("the tokens of a cache are its last dimension");
  if (cache != TensorType{DType::i32, byte_rows_shape(floats.shape, channels)})
    refuse_model("the cache is " + to_string(cache) + ", not " + to_string(floats) + " in bytes");
  scatter_of(*this).infer(
      std::vector<OperatorInput>{{true, floats}, {true, {floats.dtype, update}}, inputs[2]});
  return {cache};
}

std::vector<HostTensor> CacheUpdate::evaluate(HostInputs inputs) const {
  infer_known(*this, inputs);
  const HostTensor update = to_byte_rows(*inputs[1], channels);
  return scatter_of(*this).evaluate(std::vector<const HostTensor*>{inputs[0], &update, inputs[2]});
}

Attributes CacheUpdate::attributes() const {
  Attributes result;
  result.set("axis", axis);
  result.set("channels", channels);
  result.set("shape", floats.shape);
  return result;
}

std::shared_ptr<const Operator> make_cache_update(const NodeSpec&) {
  refuse_model("CacheUpdate is no operator of models: a cache in 8 bits is made of TensorScatter");
}

}  // namespace vellum

#include "graph/gather.hpp"

#include <cstring>

namespace vellum {

std::vector<TensorType> Expand::infer(Inputs inputs) const {
  const TensorType& x = input_type(inputs, 0, "input");
  const Shape shape = constant_ints(inputs, 1, "shape");
  for (const int64_t dim : shape) {
    if (dim < 0) refuse_model("shape holds " + std::to_string(dim));
  }
  return {{x.dtype, broadcast(x.shape, shape)}};
}

std::vector<HostTensor> Expand::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  return {gather_strided(*inputs[0], type.shape, broadcast_strides(inputs[0]->shape(), type.shape), 0)};
}

std::vector<TensorType> Tile::infer(Inputs inputs) const {
  TensorType y = input_type(inputs, 0, "input");
  const Ints repeats = constant_ints(inputs, 1, "repeats");
  if (repeats.size() != y.shape.size()) {
    refuse_model(std::to_string(repeats.size()) + " repeats for " + std::to_string(y.shape.size()) +
                 " dimensions");
  }
  for (size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0) refuse_model("repeats holds " + std::to_string(repeats[i]));
    y.shape[i] = checked_multiply(y.shape[i], repeats[i]);
  }
  return {y};
}

std::vector<HostTensor> Tile::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const HostTensor& x = *inputs[0];
  // Seen as repeats x size per dimension, tiling is a broadcast.
  const auto dense = row_major_strides(x.shape());
  Shape shape;
  std::vector<int64_t> strides;
  for (size_t i = 0; i < dense.size(); ++i) {
    shape.push_back(x.shape()[i] == 0 ? 0 : type.shape[i] / x.shape()[i]);
    shape.push_back(x.shape()[i]);
    strides.push_back(0);
    strides.push_back(dense[i]);
  }
  return {gather_strided(x, shape, strides, 0).reshaped(type.shape)};
}

int64_t checked_index(int64_t index, int64_t size) {
  if (index < -size || index >= size) {
    throw Error(
        ErrorCode::invalid_argument,
        "index " + std::to_string(index) + " is out of range for a dimension of " + std::to_string(size));
  }
  return index < 0 ? index + size : index;
}

std::vector<TensorType> Gather::infer(Inputs inputs) const {
  const TensorType &data = input_type(inputs, 0, "data"), &indices = input_type(inputs, 1, "indices");
  if (indices.dtype != DType::i64 && indices.dtype != DType::i32)
    refuse_model("indices are " + to_string(indices));
  const auto at = static_cast<std::ptrdiff_t>(normalize_axis(axis, data.shape.size()));
  TensorType y = data;
  y.shape.erase(y.shape.begin() + at);
  y.shape.insert(y.shape.begin() + at, indices.shape.begin(), indices.shape.end());
  return {y};
}

std::vector<HostTensor> Gather::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const HostTensor& data = *inputs[0];
  const size_t at = normalize_axis(axis, data.shape().size());
  const int64_t outer = product(data.shape(), 0, at), size = data.shape()[at];
  const size_t slice =
      static_cast<size_t>(product(data.shape(), at + 1, data.shape().size())) * size_of(type.dtype);
  Ints indices = inputs[1]->to_ints();
  for (int64_t& index : indices) index = checked_index(index, size);
  HostTensor y(type.dtype, type.shape);
  std::byte* out = y.mutable_data();
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t index : indices) {
      std::memcpy(out, data.data() + static_cast<size_t>(o * size + index) * slice, slice);
      out += slice;
    }
  }
  return {y};
}

Attributes Gather::attributes() const {
  Attributes result;
  result.set("axis", axis);
  return result;
}

std::shared_ptr<const Operator> make_expand(const NodeSpec&) { return std::make_shared<Expand>(); }

std::shared_ptr<const Operator> make_tile(const NodeSpec&) { return std::make_shared<Tile>(); }

std::shared_ptr<const Operator> make_gather(const NodeSpec& spec) {
  auto op = std::make_shared<Gather>();
  op->axis = spec.attributes->get_int("axis", 0);
  return op;
}

}  // namespace vellum

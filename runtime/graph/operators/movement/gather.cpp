#include "graph/operators/movement/gather.hpp"

#include <algorithm>
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

void require_indices(const TensorType& indices) {
  if (indices.dtype != DType::i64 && indices.dtype != DType::i32)
    refuse_model("indices are " + to_string(indices));
}

std::vector<TensorType> Gather::infer(Inputs inputs) const {
  const TensorType &data = input_type(inputs, 0, "data"), &indices = input_type(inputs, 1, "indices");
  require_indices(indices);
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

std::vector<TensorType> GatherElements::infer(Inputs inputs) const {
  const TensorType &data = input_type(inputs, 0, "data"), &indices = input_type(inputs, 1, "indices");
  require_indices(indices);
  const size_t at = normalize_axis(axis, data.shape.size());
  bool fits = indices.shape.size() == data.shape.size();
  for (size_t i = 0; fits && i < data.shape.size(); ++i) fits = i == at || indices.shape[i] <= data.shape[i];
  if (!fits) refuse_model("indices are " + to_string(indices) + ", data " + to_string(data));
  return {{data.dtype, indices.shape}};
}

std::vector<HostTensor> GatherElements::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const HostTensor& data = *inputs[0];
  const size_t at = normalize_axis(axis, data.shape().size());
  const Ints indices = inputs[1]->to_ints();
  auto strides = row_major_strides(data.shape());
  const int64_t along = strides[at];
  strides[at] = 0;
  HostTensor y(type.dtype, type.shape);
  visit_element_size(type.dtype, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const auto in = data.as<Element>();
    auto out = y.mutable_as<Element>();
    size_t i = 0;
    for_each_offset<1>(type.shape, {strides}, {0}, [&](const auto& offsets) {
      const int64_t index = checked_index(indices[i], data.shape()[at]);
      out[i++] = in[static_cast<size_t>(offsets[0] + index * along)];
    });
  });
  return {y};
}

Attributes GatherElements::attributes() const {
  Attributes result;
  result.set("axis", axis);
  return result;
}

std::vector<TensorType> GatherND::infer(Inputs inputs) const {
  const TensorType &data = input_type(inputs, 0, "data"), &indices = input_type(inputs, 1, "indices");
  require_indices(indices);
  const auto batch = static_cast<size_t>(batch_dims);
  const bool fits = batch < indices.shape.size() && batch < data.shape.size() &&
                    std::equal(data.shape.begin(), data.shape.begin() + batch_dims, indices.shape.begin()) &&
                    indices.shape.back() >= 1 &&
                    indices.shape.back() <= static_cast<int64_t>(data.shape.size() - batch);
  if (!fits) refuse_model("indices are " + to_string(indices) + ", data " + to_string(data));
  TensorType y{data.dtype, Shape(indices.shape.begin(), indices.shape.end() - 1)};
  y.shape.insert(y.shape.end(), data.shape.begin() + batch_dims + indices.shape.back(), data.shape.end());
  return {y};
}

std::vector<HostTensor> GatherND::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const HostTensor& data = *inputs[0];
  const auto batch = static_cast<size_t>(batch_dims);
  const auto depth = static_cast<size_t>(inputs[1]->shape().back());
  const Ints indices = inputs[1]->to_ints();
  const auto strides = row_major_strides(data.shape());
  const size_t slice_elements =
      static_cast<size_t>(product(data.shape(), batch + depth, data.shape().size()));
  const size_t slice = slice_elements * size_of(type.dtype);
  const int64_t batches = product(data.shape(), 0, batch),
                batch_elements = product(data.shape(), batch, data.shape().size());
  const size_t tuples = batches == 0 ? 0 : indices.size() / depth / static_cast<size_t>(batches);
  HostTensor y(type.dtype, type.shape);
  std::byte* out = y.mutable_data();
  auto next = indices.begin();
  for (int64_t b = 0; b < batches; ++b) {
    for (size_t tuple = 0; tuple < tuples; ++tuple, out += slice) {
      int64_t from = b * batch_elements;
      for (size_t i = 0; i < depth; ++i)
        from += checked_index(*next++, data.shape()[batch + i]) * strides[batch + i];
      std::memcpy(out, data.data() + static_cast<size_t>(from) * size_of(type.dtype), slice);
    }
  }
  return {y};
}

Attributes GatherND::attributes() const {
  Attributes result;
  result.set("batch_dims", batch_dims);
  return result;
}

std::shared_ptr<const Operator> make_expand(const NodeSpec&) { return std::make_shared<Expand>(); }

std::shared_ptr<const Operator> make_tile(const NodeSpec& spec) {
  if (spec.opset < 6) refuse_unsupported("Tile along one axis (before opset 6)");
  return std::make_shared<Tile>();
}

std::shared_ptr<const Operator> make_gather(const NodeSpec& spec) {
  auto op = std::make_shared<Gather>();
  op->axis = spec.attributes->get_int("axis", 0);
  return op;
}

std::shared_ptr<const Operator> make_gather_elements(const NodeSpec& spec) {
  auto op = std::make_shared<GatherElements>();
  op->axis = spec.attributes->get_int("axis", 0);
  return op;
}

std::shared_ptr<const Operator> make_gather_nd(const NodeSpec& spec) {
  auto op = std::make_shared<GatherND>();
  op->batch_dims = spec.attributes->get_int("batch_dims", 0);
  if (op->batch_dims < 0) refuse_model("batch_dims is " + std::to_string(op->batch_dims));
  return op;
}

}  // namespace vellum

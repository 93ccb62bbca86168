#include "graph/operators/movement/reshape.hpp"

#include <algorithm>

namespace vellum {

std::vector<TensorType> ReshapeFamily::infer(Inputs inputs) const {
  const TensorType& data = input_type(inputs, 0, "data");
  const Shape shape = target(inputs);
  if (element_count(shape) != element_count(data.shape)) {
    refuse_model("data of shape " + to_string(data.shape) + " cannot become " + to_string(shape));
  }
  return {{data.dtype, shape}};
}

std::vector<HostTensor> ReshapeFamily::evaluate(HostInputs inputs) const {
  return {inputs[0]->reshaped(infer_known(*this, inputs)[0].shape)};
}

Shape Reshape::target(Inputs inputs) const {
  const Shape& data = input_type(inputs, 0, "data").shape;
  Shape result = shape ? *shape : constant_ints(inputs, 1, "shape");
  std::optional<size_t> inferred;
  for (size_t i = 0; i < result.size(); ++i) {
    if (result[i] == 0 && !allow_zero) {
      if (i >= data.size())
        refuse_model("shape copies dimension " + std::to_string(i) + " of " + to_string(data));
      result[i] = data[i];
    } else if (result[i] == -1) {
      if (inferred) refuse_model("shape has two dimensions of -1");
      inferred = i;
    } else if (result[i] < 0) {
      refuse_model("shape holds " + std::to_string(result[i]));
    }
  }
  if (inferred) {
    result[*inferred] = 1;
    const int64_t known = element_count(result), all = element_count(data);
    if (known == 0 || all % known != 0) {
      refuse_model("data of shape " + to_string(data) + " leaves nothing whole for the dimension of -1");
    }
    result[*inferred] = all / known;
  }
  return result;
}

Attributes Reshape::attributes() const {
  Attributes result;
  if (shape) result.set("shape", *shape);
  if (allow_zero) result.set("allowzero", int64_t{1});
  return result;
}

Shape Flatten::target(Inputs inputs) const {
  const Shape& data = input_type(inputs, 0, "input").shape;
  const auto rank = static_cast<int64_t>(data.size());
  if (axis < -rank || axis > rank) {
    refuse_model("axis " + std::to_string(axis) + " is out of range for " + std::to_string(rank) +
                 " dimensions");
  }
  const auto split = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  return {product(data, 0, split), product(data, split, data.size())};
}

Attributes Flatten::attributes() const {
  Attributes result;
  result.set("axis", axis);
  return result;
}

Shape Squeeze::target(Inputs inputs) const {
  const Shape& data = input_type(inputs, 0, "data").shape;
  const auto chosen = attribute_or_input(axes, inputs, 1, "axes");
  Shape result;
  if (!chosen) {
    std::copy_if(data.begin(), data.end(), std::back_inserter(result), [](int64_t dim) { return dim != 1; });
    return result;
  }
  const auto removed = normalize_axes(*chosen, data.size());
  for (size_t i = 0; i < data.size(); ++i) {
    if (!std::binary_search(removed.begin(), removed.end(), i)) {
      result.push_back(data[i]);
    } else if (data[i] != 1) {
      refuse_model("dimension " + std::to_string(i) + " of " + to_string(data) + " is not 1");
    }
  }
  return result;
}

namespace {

Attributes print_axes(const std::optional<Ints>& axes) {
  Attributes result;
  if (axes) result.set("axes", *axes);
  return result;
}

}  // namespace

Attributes Squeeze::attributes() const { return print_axes(axes); }

Shape Unsqueeze::target(Inputs inputs) const {
  const Shape& data = input_type(inputs, 0, "data").shape;
  const auto chosen = attribute_or_input(axes, inputs, 1, "axes");
  if (!chosen) refuse_model("axes are missing");
  const size_t rank = data.size() + chosen->size();
  const auto added = normalize_axes(*chosen, rank);
  Shape result;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    result.push_back(std::binary_search(added.begin(), added.end(), i) ? 1 : data[next++]);
  }
  return result;
}

Attributes Unsqueeze::attributes() const { return print_axes(axes); }

std::vector<TensorType> Dropout::infer(Inputs inputs) const {
  const TensorType& data = input_type(inputs, 0, "data");
  // Training with a ratio of 0 drops nothing: torch exports functional dropout this way, and keeps training
  // on in evaluation.
  const bool drops_nothing =
      has_input(inputs, 1) && constant_input(inputs, 1, "ratio").to_floats() == std::vector<float>{0.0f};
  if (!drops_nothing && has_input(inputs, 2) &&
      constant_input(inputs, 2, "training_mode").to_ints() != Ints{0}) {
    refuse_unsupported("training_mode");
  }
  std::vector<TensorType> types{data};
  if (with_mask) types.push_back({boolean_mask ? DType::boolean : data.dtype, data.shape});
  return types;
}

std::vector<HostTensor> Dropout::evaluate(HostInputs inputs) const {
  const auto types = infer_known(*this, inputs);
  std::vector<HostTensor> outputs{*inputs[0]};
  if (with_mask) {
    HostTensor mask(DType::u8, types[1].shape);
    for (uint8_t& element : mask.mutable_as<uint8_t>()) element = 1;
    outputs.push_back(cast(mask, types[1].dtype));
  }
  return outputs;
}

std::shared_ptr<const Operator> make_reshape(const NodeSpec& spec) {
  auto op = std::make_shared<Reshape>();
  op->allow_zero = get_flag(*spec.attributes, "allowzero", false);
  if (spec.opset < 5) op->shape = optional_ints(*spec.attributes, "shape");
  return op;
}

std::shared_ptr<const Operator> make_flatten(const NodeSpec& spec) {
  auto op = std::make_shared<Flatten>();
  op->axis = spec.attributes->get_int("axis", 1);
  return op;
}

std::shared_ptr<const Operator> make_squeeze(const NodeSpec& spec) {
  auto op = std::make_shared<Squeeze>();
  if (spec.opset < 13) op->axes = optional_ints(*spec.attributes, "axes");
  return op;
}

std::shared_ptr<const Operator> make_unsqueeze(const NodeSpec& spec) {
  auto op = std::make_shared<Unsqueeze>();
  if (spec.opset < 13) op->axes = optional_ints(*spec.attributes, "axes");
  return op;
}

std::shared_ptr<const Operator> make_identity(const NodeSpec&) { return std::make_shared<Identity>(); }

std::shared_ptr<const Operator> make_dropout(const NodeSpec& spec) {
  auto op = std::make_shared<Dropout>();
  // Both concern training.
  spec.attributes->ignore("ratio");
  spec.attributes->ignore("seed");
  require_inference(spec);
  op->with_mask = spec.output_count > 1;
  op->boolean_mask = spec.opset >= 10;
  return op;
}

}  // namespace vellum

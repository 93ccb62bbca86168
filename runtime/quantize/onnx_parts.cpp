#include "quantize/onnx_parts.hpp"

#include <bit>

#include "graph/onnx_types.hpp"
#include "vellum/error.hpp"

namespace vellum::quantization {

void set_attribute(schema::NodeProto& node, const std::string& name, const Attributes::Value& value) {
  schema::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    attribute.set_type(schema::AttributeProto::INT);
    attribute.set_i(*integer);
  } else if (const auto* number = std::get_if<float>(&value)) {
    attribute.set_type(schema::AttributeProto::FLOAT);
    attribute.set_f(*number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    attribute.set_type(schema::AttributeProto::STRING);
    attribute.set_s(*text);
  } else if (const auto* integers = std::get_if<Attributes::Ints>(&value)) {
    attribute.set_type(schema::AttributeProto::INTS);
    for (const int64_t item : *integers) attribute.add_ints(item);
  } else if (const auto* numbers = std::get_if<Attributes::Floats>(&value)) {
    attribute.set_type(schema::AttributeProto::FLOATS);
    for (const float item : *numbers) attribute.add_floats(item);
  } else {
    throw Error(ErrorCode::internal, "an attribute " + name + " of a kind that is not written");
  }
}

void set_attributes(schema::NodeProto& node, const Attributes& attributes) {
  for (const auto& [name, value] : attributes.values()) set_attribute(node, name, value);
}

void set_tensor(schema::TensorProto& tensor, const std::string& name, const HostTensor& value) {
  static_assert(std::endian::native == std::endian::little, "raw_data is little-endian");
  tensor.set_name(name);
  tensor.set_data_type(static_cast<int32_t>(dtype_to_onnx(value.dtype())));
  for (const int64_t dim : value.shape()) tensor.add_dims(dim);
  tensor.set_raw_data(value.data(), value.byte_size());
}

// Two integers are in a byte, the first in its lower half.
void pack_four_bits(schema::TensorProto& tensor) {
  const std::string bytes = tensor.raw_data();
  std::string packed((bytes.size() + 1) / 2, '\0');
  for (size_t i = 0; i < bytes.size(); ++i)
    packed[i / 2] = static_cast<char>(static_cast<uint8_t>(packed[i / 2]) |
                                      (static_cast<uint8_t>(bytes[i]) & 15u) << (i % 2 * 4));
  constexpr int32_t kInt4 = 22;
  tensor.set_data_type(kInt4);
  tensor.set_raw_data(packed);
}

}  // namespace vellum::quantization

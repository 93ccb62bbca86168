#include "read_values.hpp"

#include <cstring>

#include "graph/narrow_types.hpp"
#include "graph/onnx_types.hpp"

namespace vellum::ort {
namespace {

// The bytes of an attribute: the first call asks for their number.
std::vector<char> attribute_bytes(const OrtOpAttr* attribute, OrtOpAttrType type) {
  size_t bytes = 0;
  if (OrtStatus* too_small = api().ReadOpAttr(attribute, type, nullptr, 0, &bytes))
    api().ReleaseStatus(too_small);
  std::vector<char> data(bytes);
  if (bytes > 0) check(api().ReadOpAttr(attribute, type, data.data(), data.size(), &bytes));
  data.resize(bytes);
  return data;
}

template <typename Number>
std::vector<Number> numbers_of(const std::vector<char>& bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
  return numbers;
}

// The runtime writes a zero after each string.
Attributes::Strings strings_of(const std::vector<char>& bytes) {
  Attributes::Strings strings;
  for (size_t begin = 0; begin < bytes.size();) {
    const size_t length = strnlen(bytes.data() + begin, bytes.size() - begin);
    strings.emplace_back(bytes.data() + begin, length);
    begin += length + 1;
  }
  return strings;
}

HostTensor tensor_attribute(const OrtOpAttr* attribute) {
  OrtValue* value = nullptr;
  check(api().OpAttr_GetTensorAttributeAsOrtValue(attribute, &value));
  const std::shared_ptr<OrtValue> owner(value, [](OrtValue* tensor) { api().ReleaseValue(tensor); });
  return borrow_tensor(*value, owner);
}

Attributes::Value attribute_value(const OrtOpAttr* attribute, const std::string& name) {
  const auto type = get<OrtOpAttrType>(api().OpAttr_GetType, attribute);
  switch (type) {
    case ORT_OP_ATTR_INT:
      return numbers_of<int64_t>(attribute_bytes(attribute, type)).at(0);
    case ORT_OP_ATTR_FLOAT:
      return numbers_of<float>(attribute_bytes(attribute, type)).at(0);
    case ORT_OP_ATTR_INTS:
      return numbers_of<int64_t>(attribute_bytes(attribute, type));
    case ORT_OP_ATTR_FLOATS:
      return numbers_of<float>(attribute_bytes(attribute, type));
    case ORT_OP_ATTR_STRING: {
      const std::vector<char> bytes = attribute_bytes(attribute, type);
      return std::string(bytes.data(), bytes.size());
    }
    case ORT_OP_ATTR_STRINGS:
      return strings_of(attribute_bytes(attribute, type));
    case ORT_OP_ATTR_TENSOR:
      return tensor_attribute(attribute);
    case ORT_OP_ATTR_GRAPH:
    case ORT_OP_ATTR_UNDEFINED:
      break;
  }
  throw Error(ErrorCode::unsupported, "attributes of the kind of '" + name + "' are not supported");
}

std::vector<Dimension> dimensions_of(const OrtTensorTypeAndShapeInfo* info) {
  std::vector<int64_t> sizes(get<size_t>(api().GetDimensionsCount, info));
  std::vector<const char*> symbols(sizes.size());
  if (!sizes.empty()) {
    check(api().GetDimensions(info, sizes.data(), sizes.size()));
    check(api().GetSymbolicDimensions(info, symbols.data(), symbols.size()));
  }
  std::vector<Dimension> dimensions;
  for (size_t i = 0; i < sizes.size(); ++i) {
    // Exporters write 0 and -1 for open dimensions of inputs; the runtime keeps a 0.
    if (sizes[i] >= 0)
      dimensions.push_back({sizes[i], {}});
    else
      dimensions.push_back({kUnknownDim, symbols[i] ? symbols[i] : ""});
  }
  return dimensions;
}

}  // namespace

std::optional<TensorDescription> describe_tensor(const OrtValueInfo& value) {
  const auto* type = get<const OrtTypeInfo*>(api().GetValueInfoTypeInfo, &value);
  if (!type || get<ONNXType>(api().GetOnnxTypeFromTypeInfo, type) != ONNX_TYPE_TENSOR) return std::nullopt;
  const auto* info = get<const OrtTensorTypeAndShapeInfo*>(api().CastTypeInfoToTensorInfo, type);
  if (!info) return std::nullopt;
  TensorDescription description;
  description.onnx_type = get<ONNXTensorElementDataType>(api().GetTensorElementType, info);
  if (api().TensorTypeAndShape_HasShape(info)) description.dimensions = dimensions_of(info);
  return description;
}

HostTensor borrow_tensor(const OrtValue& value, std::shared_ptr<const void> owner) {
  ONNXTensorElementDataType type{};
  const int64_t* dims = nullptr;
  size_t rank = 0;
  check(api().GetTensorElementTypeAndShapeDataReference(&value, &type, &dims, &rank));
  const DType dtype = dtype_from_onnx(type);
  Shape shape(dims, dims + rank);
  if (element_count(shape) == 0) return HostTensor(dtype, std::move(shape));
  const auto* data = static_cast<const std::byte*>(get<const void*>(api().GetTensorData, &value));
  if (const NarrowType* narrow = find_narrow_type(type)) {
    const uint64_t bytes = packed_bytes(*narrow, static_cast<uint64_t>(element_count(shape)));
    return unpack(*narrow, shape, {data, static_cast<size_t>(bytes)});
  }
  return {dtype, std::move(shape), std::shared_ptr<const std::byte>(std::move(owner), data)};
}

HostTensor copy_tensor(const OrtValue& value) {
  HostTensor tensor = borrow_tensor(value, nullptr);
  tensor.mutable_data();
  return tensor;
}

Attributes read_attributes(const OrtNode& node) {
  Attributes attributes;
  for (const OrtOpAttr* attribute :
       list<const OrtOpAttr*>(api().Node_GetNumAttributes, api().Node_GetAttributes, &node)) {
    const std::string name = get<const char*>(api().OpAttr_GetName, attribute);
    attributes.set(name, attribute_value(attribute, name));
  }
  return attributes;
}

}  // namespace vellum::ort

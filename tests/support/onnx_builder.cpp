#include "support/onnx_builder.hpp"

#include <vellum_onnx.pb.h>

#include <fstream>
#include <stdexcept>

#include "import/import.hpp"

namespace vellum::test {
namespace {

namespace schema = ::vellum::onnx_schema;

schema::TensorProto::DataType to_onnx(DType dtype) {
  using T = schema::TensorProto;
  switch (dtype) {
    case DType::f32:
      return T::FLOAT;
    case DType::f16:
      return T::FLOAT16;
    case DType::f64:
      return T::DOUBLE;
    case DType::i64:
      return T::INT64;
    case DType::i32:
      return T::INT32;
    case DType::i16:
      return T::INT16;
    case DType::i8:
      return T::INT8;
    case DType::u64:
      return T::UINT64;
    case DType::u32:
      return T::UINT32;
    case DType::u16:
      return T::UINT16;
    case DType::u8:
      return T::UINT8;
    case DType::boolean:
      return T::BOOL;
  }
  throw std::logic_error("no such dtype");
}

void fill(schema::TensorProto& proto, const HostTensor& tensor) {
  proto.set_data_type(to_onnx(tensor.dtype()));
  for (const int64_t dim : tensor.shape()) proto.add_dims(dim);
  proto.set_raw_data(tensor.data(), tensor.byte_size());
}

struct FillAttribute {
  schema::AttributeProto& proto;

  void operator()(int64_t value) const {
    proto.set_type(schema::AttributeProto::INT);
    proto.set_i(value);
  }
  void operator()(float value) const {
    proto.set_type(schema::AttributeProto::FLOAT);
    proto.set_f(value);
  }
  void operator()(const std::string& value) const {
    proto.set_type(schema::AttributeProto::STRING);
    proto.set_s(value);
  }
  void operator()(const Attributes::Ints& list) const {
    proto.set_type(schema::AttributeProto::INTS);
    for (const int64_t value : list) proto.add_ints(value);
  }
  void operator()(const Attributes::Floats& list) const {
    proto.set_type(schema::AttributeProto::FLOATS);
    for (const float value : list) proto.add_floats(value);
  }
  void operator()(const Attributes::Strings& list) const {
    proto.set_type(schema::AttributeProto::STRINGS);
    for (const std::string& value : list) proto.add_strings(value);
  }
  void operator()(const HostTensor& value) const {
    proto.set_type(schema::AttributeProto::TENSOR);
    fill(*proto.mutable_t(), value);
  }
};

}  // namespace

Attributes attributes(std::initializer_list<std::pair<std::string, Attributes::Value>> list) {
  Attributes result;
  for (const auto& [name, value] : list) result.set(name, value);
  return result;
}

OnnxModel::OnnxModel(int opset) : proto_(std::make_unique<schema::ModelProto>()) {
  proto_->set_ir_version(8);
  proto_->add_opset_import()->set_version(opset);
  proto_->mutable_graph()->set_name("test");
}

OnnxModel::~OnnxModel() = default;
OnnxModel::OnnxModel(OnnxModel&&) noexcept = default;
OnnxModel& OnnxModel::operator=(OnnxModel&&) noexcept = default;

OnnxModel& OnnxModel::input(const std::string& name, const Shape& shape, DType dtype) {
  auto& info = *proto_->mutable_graph()->add_input();
  info.set_name(name);
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(to_onnx(dtype));
  type.mutable_shape();
  for (size_t i = 0; i < shape.size(); ++i) {
    auto& dim = *type.mutable_shape()->add_dim();
    if (shape[i] == kUnknownDim) {
      dim.set_dim_param(name + "_" + std::to_string(i));
    } else {
      dim.set_dim_value(shape[i]);
    }
  }
  return *this;
}

OnnxModel& OnnxModel::output(const std::string& name) {
  proto_->mutable_graph()->add_output()->set_name(name);
  return *this;
}

OnnxModel& OnnxModel::initializer(const std::string& name, const HostTensor& tensor) {
  auto& proto = *proto_->mutable_graph()->add_initializer();
  proto.set_name(name);
  fill(proto, tensor);
  return *this;
}

OnnxModel& OnnxModel::node(const std::string& type, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs, const Attributes& node_attributes,
                           const std::string& name) {
  auto& proto = *proto_->mutable_graph()->add_node();
  const size_t dot = type.rfind('.');
  if (dot != type.npos) proto.set_domain(type.substr(0, dot));
  proto.set_op_type(type.substr(dot + 1));
  if (!name.empty()) proto.set_name(name);
  for (const std::string& input : inputs) proto.add_input(input);
  for (const std::string& output : outputs) proto.add_output(output);
  for (const auto& [attribute_name, value] : node_attributes.values()) {
    auto& attribute = *proto.add_attribute();
    attribute.set_name(attribute_name);
    std::visit(FillAttribute{attribute}, value);
  }
  return *this;
}

std::string OnnxModel::bytes() const { return proto_->SerializeAsString(); }

void OnnxModel::save(const std::filesystem::path& file) const {
  std::ofstream stream(file, std::ios::binary);
  stream << bytes();
  if (!stream.flush()) throw std::runtime_error("cannot write " + file.string());
}

Graph OnnxModel::graph() const { return import_onnx(as_bytes(bytes())); }

std::span<const std::byte> as_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace vellum::test

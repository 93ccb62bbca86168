#include "import/onnx/attributes.hpp"

#include <string>

#include "import/onnx/names.hpp"
#include "import/onnx/tensors.hpp"
#include "vellum/error.hpp"

namespace vellum::onnx {
namespace {

using schema::AttributeProto;

Attributes::Value take_value(AttributeProto& attribute, const std::string& what, ExternalFiles& files) {
  switch (attribute.type()) {
    case AttributeProto::FLOAT:
      return attribute.f();
    case AttributeProto::INT:
      return int64_t{attribute.i()};
    case AttributeProto::STRING:
      return attribute.s();
    case AttributeProto::TENSOR:
      return take_tensor(*attribute.mutable_t(), what, files);
    case AttributeProto::FLOATS:
      return Attributes::Floats(attribute.floats().begin(), attribute.floats().end());
    case AttributeProto::INTS:
      return Attributes::Ints(attribute.ints().begin(), attribute.ints().end());
    case AttributeProto::STRINGS:
      return Attributes::Strings(attribute.strings().begin(), attribute.strings().end());
    case AttributeProto::GRAPH:
    case AttributeProto::GRAPHS:
      throw Error(ErrorCode::unsupported,
                  what + ": operators that run a graph of their own are not supported");
    case AttributeProto::TENSORS:
    case AttributeProto::SPARSE_TENSOR:
    case AttributeProto::SPARSE_TENSORS:
    case AttributeProto::TYPE_PROTO:
    case AttributeProto::TYPE_PROTOS:
      throw Error(ErrorCode::unsupported,
                  what + ": attributes of kind " + std::to_string(attribute.type()) + " are not supported");
    case AttributeProto::UNDEFINED:
      break;
  }
  throw Error(ErrorCode::corrupt_model, what + ": the attribute has no type");
}

}  // namespace

Attributes take_attributes(schema::NodeProto& node, ExternalFiles& files) {
  Attributes attributes;
  for (AttributeProto& attribute : *node.mutable_attribute()) {
    const std::string what = "attribute " + quoted_name(attribute.name());
    if (attribute.name().empty()) throw Error(ErrorCode::corrupt_model, "an attribute has no name");
    if (attributes.has(attribute.name())) throw Error(ErrorCode::corrupt_model, what + " is there twice");
    if (!attribute.ref_attr_name().empty()) {
      throw Error(ErrorCode::corrupt_model,
                  what + " refers to an attribute of a function outside any function");
    }
    attributes.set(attribute.name(), take_value(attribute, what, files));
  }
  return attributes;
}

}  // namespace vellum::onnx

// Parts of ONNX files as protobuf messages.
#pragma once

#include <string>

#include "graph/attributes.hpp"
#include "import/onnx/schema.hpp"

namespace vellum::quantization {

namespace schema = onnx::schema;

void set_attribute(schema::NodeProto& node, const std::string& name, const Attributes::Value& value);
void set_attributes(schema::NodeProto& node, const Attributes& attributes);
void set_tensor(schema::TensorProto& tensor, const std::string& name, const HostTensor& value);
// Converts a tensor of int8 whose values fit in four bits to int4.
void pack_four_bits(schema::TensorProto& tensor);

}  // namespace vellum::quantization

// Reads AttributeProto into Attributes.
#pragma once

#include "graph/attributes.hpp"
#include "import/onnx/external_data.hpp"
#include "import/onnx/schema.hpp"

namespace vellum::onnx {

// Returns all attributes of the node. Moves the bytes of tensors out of `node` instead of copying them.
// Errors name the attribute (the caller adds the node). Kinds of attributes that no supported operator has
// (graphs, sparse tensors, types) are Error(unsupported).
Attributes take_attributes(schema::NodeProto& node, ExternalFiles& files);

}  // namespace vellum::onnx

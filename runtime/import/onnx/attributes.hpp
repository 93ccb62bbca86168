// AttributeProto -> Attributes.
#pragma once

#include <filesystem>

#include "graph/attributes.hpp"
#include "import/onnx/schema.hpp"

namespace vellum::onnx {

// All attributes of the node; takes the bytes of tensors instead of copying them. Errors name the attribute
// (the caller adds the node): unsupported for kinds that no supported operator has (graphs, sparse tensors,
// types).
Attributes take_attributes(schema::NodeProto& node, const std::filesystem::path& folder);

}  // namespace vellum::onnx

// Names of nodes in error messages.
#pragma once

#include <string>

#include "import/names.hpp"
#include "import/onnx/schema.hpp"

namespace vellum::onnx {

// Returns "Conv 'block1/conv'"; a node without a name is called by its first output.
std::string describe(const schema::NodeProto& node);

}  // namespace vellum::onnx

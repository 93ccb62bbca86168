// How errors quote names that come from a file.
#pragma once

#include <string>

#include "import/onnx/schema.hpp"

namespace vellum::onnx {

// 'name' in quotes, on one line and of bounded length, whatever bytes the file has put there.
std::string quoted(const std::string& name);
// "Conv 'block1/conv'"; a node without a name is called by its first output.
std::string describe(const schema::NodeProto& node);

}  // namespace vellum::onnx

#include "import/onnx/names.hpp"

namespace vellum::onnx {

std::string describe(const schema::NodeProto& node) {
  // The type is a word in every valid file, and can be anything in a damaged one.
  const std::string type = quoted_name(node.op_type());
  const std::string text = type.substr(1, type.size() - 2);
  if (!node.name().empty()) return text + " " + quoted_name(node.name());
  if (node.output_size() > 0) return text + " producing " + quoted_name(node.output(0));
  return text + " without a name";
}

}  // namespace vellum::onnx

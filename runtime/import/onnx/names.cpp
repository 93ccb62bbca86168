#include "import/onnx/names.hpp"

namespace vellum::onnx {

std::string quoted(const std::string& name) {
  constexpr size_t kLongest = 200;
  std::string text = "'";
  for (const char c : name.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  if (name.size() > kLongest) text += "...";
  return text + "'";
}

std::string describe(const schema::NodeProto& node) {
  // The type is a word in every real file, and anything at all in a damaged one.
  const std::string type = quoted(node.op_type());
  const std::string text = type.substr(1, type.size() - 2);
  if (!node.name().empty()) return text + " " + quoted(node.name());
  if (node.output_size() > 0) return text + " producing " + quoted(node.output(0));
  return text + " without a name";
}

}  // namespace vellum::onnx

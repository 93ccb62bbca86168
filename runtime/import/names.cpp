#include "import/names.hpp"

namespace vellum {

std::string quoted_name(const std::string& name) {
  constexpr size_t kLongest = 200;
  std::string text = "'";
  for (const char c : name.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  if (name.size() > kLongest) text += "...";
  return text + "'";
}

}  // namespace vellum

#include "platform/utf8_path.hpp"

#include <system_error>

#include "vellum/error.hpp"

namespace vellum::platform {

std::filesystem::path utf8_path(std::string_view text) {
  try {
    return std::filesystem::path(std::u8string(text.begin(), text.end()));
  } catch (const std::system_error&) {
    throw Error(ErrorCode::invalid_argument, "the name of a file is not UTF-8: " + std::string(text));
  }
}

std::string to_utf8(const std::filesystem::path& path) {
  try {
    const std::u8string text = path.u8string();
    return std::string(text.begin(), text.end());
  } catch (const std::system_error&) {
    std::string text;
    for (const wchar_t c : path.wstring()) text += c < 0x80 ? static_cast<char>(c) : '?';
    return text;
  }
}

}  // namespace vellum::platform

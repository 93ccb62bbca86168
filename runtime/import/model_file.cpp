#include "import/model_file.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>

#include "import/other_formats.hpp"
#include "platform/system_message.hpp"
#include "platform/utf8_path.hpp"
#include "vellum/error.hpp"

namespace vellum {

namespace fs = std::filesystem;

void check_is_file(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) throw Error(ErrorCode::not_found, "no such file");
  if (status.type() == fs::file_type::none) throw Error(ErrorCode::io, platform::system_message(error));
  if (!fs::is_regular_file(status)) throw Error(ErrorCode::io, "is a folder or a device, not a model file");
}

void check_model_file(const fs::path& file) {
  try {
    check_is_file(file);
  } catch (const Error& error) {
    throw Error(error.code(), platform::to_utf8(file) + ": " + error.what());
  }
}

std::string head_of(const fs::path& file) {
  std::array<char, kSignatureBytes> head{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(head.data(), head.size());
  return {head.data(), static_cast<size_t>(stream.gcount())};
}

std::string_view head_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kSignatureBytes)};
}

// A flatbuffer has its file identifier at byte 4.
bool is_tflite(std::string_view head) { return head.size() >= 8 && head.substr(4, 4) == "TFL3"; }

}  // namespace vellum

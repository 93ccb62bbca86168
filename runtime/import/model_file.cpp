#include "import/model_file.hpp"

#include <system_error>

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

}  // namespace vellum

#include "platform/system_message.hpp"

#ifdef _WIN32
#include <filesystem>
#include <memory>
#include <string_view>

#include "platform/utf8_path.hpp"
#include "platform/windows.hpp"
#endif

namespace vellum::platform {

#ifdef _WIN32

std::string system_message(const std::error_code& error) {
  if (error.category() != std::system_category()) return error.message();  // English, of the C library
  wchar_t* allocated = nullptr;
  const DWORD length = FormatMessageW(
      FORMAT_MESSAGE_ALLOCATE_BUFFER | FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr,
      static_cast<DWORD>(error.value()), 0, reinterpret_cast<wchar_t*>(&allocated), 0, nullptr);
  const std::unique_ptr<wchar_t, FreeLocal> frees(allocated);
  if (length == 0) return "error " + std::to_string(error.value());
  std::wstring_view text(allocated, length);
  text = text.substr(0, text.find_last_not_of(L" .\r\n") + 1);
  return to_utf8(std::filesystem::path(text));
}

#else

std::string system_message(const std::error_code& error) { return error.message(); }

#endif

}  // namespace vellum::platform

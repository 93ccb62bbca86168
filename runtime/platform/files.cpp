#include "platform/files.hpp"

#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <system_error>
#include <thread>

#include "platform/system_message.hpp"
#include "platform/utf8_path.hpp"
#include "vellum/error.hpp"

#ifdef _WIN32
#include "platform/windows.hpp"
#endif

namespace vellum::platform {
namespace fs = std::filesystem;
namespace {

// The temporary file is beside the target, because a rename is only atomic within one file system. Its name
// is unique between processes by a random number, and between threads by their id.
fs::path temporary_name(const fs::path& path) {
  std::random_device random;
  fs::path name = path;
  name += '.';
  name += std::to_string(random());
  name += '-';
  name += std::to_string(std::hash<std::thread::id>()(std::this_thread::get_id()));
  name += ".tmp";
  return name;
}

[[noreturn]] void fail(const fs::path& path, const fs::path& temporary, const std::string& cause) {
  std::error_code ignored;
  fs::remove(temporary, ignored);
  throw Error(ErrorCode::io, to_utf8(path) + ": cannot be written: " + cause);
}

#ifdef _WIN32

// The environment as UTF-16, for a user's name may have letters that the code page lacks.
fs::path environment_folder(const wchar_t* variable) {
  std::wstring value(GetEnvironmentVariableW(variable, nullptr, 0), L'\0');
  value.resize(GetEnvironmentVariableW(variable, value.data(), static_cast<DWORD>(value.size())));
  return value;
}

// Windows refuses while another process has the file open or replaces it too; both take no longer than this.
void replace(const fs::path& from, const fs::path& to, std::error_code& error) {
  constexpr int kTries = 100;
  constexpr DWORD kPauseMs = 10;
  for (int tries = 1;; ++tries) {
    error.clear();
    if (MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING)) return;
    const DWORD code = GetLastError();
    error = {static_cast<int>(code), std::system_category()};
    if (tries == kTries || (code != ERROR_ACCESS_DENIED && code != ERROR_SHARING_VIOLATION)) return;
    Sleep(kPauseMs);
  }
}

#else

fs::path environment_folder(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value ? fs::path(value) : fs::path();
}

void replace(const fs::path& from, const fs::path& to, std::error_code& error) {
  fs::rename(from, to, error);
}

#endif

}  // namespace

std::optional<std::vector<std::byte>> read_file(const fs::path& path, uint64_t max_bytes) {
  // Opening a FIFO or a device could wait for ever.
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return std::nullopt;
  const std::streamoff size = file.tellg();
  if (size < 0 || static_cast<uint64_t>(size) > max_bytes) return std::nullopt;
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), size);
  if (file.gcount() != size) return std::nullopt;
  return bytes;
}

void write_file_atomically(const fs::path& path, std::span<const std::byte> bytes) {
  write_file_atomically(path, {bytes});
}

void write_file_atomically(const fs::path& path, std::initializer_list<std::span<const std::byte>> pieces) {
  write_file_atomically(path, std::span(pieces.begin(), pieces.size()));
}

void write_file_atomically(const fs::path& path, std::span<const std::span<const std::byte>> pieces) {
  const fs::path temporary = temporary_name(path);
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) fail(path, temporary, system_message(error));
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    if (!file) fail(path, temporary, "no permission, or the folder does not exist");
    for (const std::span<const std::byte> piece : pieces)
      file.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
    file.close();
    if (!file) fail(path, temporary, "the disk may be full");
  }
  replace(temporary, path, error);
  if (error) fail(path, temporary, system_message(error));
}

std::optional<uint64_t> free_disk_bytes(fs::path folder) {
  std::error_code error;
  while (!folder.empty() && !fs::exists(folder, error) && folder != folder.parent_path())
    folder = folder.parent_path();
  const fs::space_info space = fs::space(folder.empty() ? fs::path(".") : folder, error);
  if (error || space.available == static_cast<std::uintmax_t>(-1)) return std::nullopt;
  return space.available;
}

fs::path default_cache_folder() {
#ifdef _WIN32
  const fs::path base = environment_folder(L"LOCALAPPDATA");
#else
  // "All paths set in these environment variables must be absolute. If an implementation encounters a
  // relative path in any of these variables it should consider the path invalid and ignore it."
  // https://specifications.freedesktop.org/basedir-spec/latest/
  fs::path base = environment_folder("XDG_CACHE_HOME");
  if (base.is_relative()) base.clear();
  const fs::path home = environment_folder("HOME");
  if (base.empty() && !home.empty()) base = home / ".cache";
#endif
  return base.empty() ? fs::path() : base / "vellum";
}

}  // namespace vellum::platform

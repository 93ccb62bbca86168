#include "platform/owned_file.hpp"

#include <algorithm>
#include <utility>

#ifdef _WIN32
#include "platform/windows.hpp"
#else
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace vellum::platform {

namespace fs = std::filesystem;

OwnedFile::OwnedFile(fs::path path) : path_(std::move(path)) {}

#ifdef _WIN32

// Windows needs no lock: a file that is opened without sharing cannot be opened again before it is closed.
std::unique_ptr<OwnedFile> OwnedFile::create(const fs::path& path) {
  std::unique_ptr<OwnedFile> file(new OwnedFile(path));
  const HANDLE handle = CreateFileW(path.c_str(), FILE_APPEND_DATA | DELETE, 0, nullptr, CREATE_NEW,
                                    FILE_ATTRIBUTE_NORMAL, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return nullptr;
  file->handle_ = reinterpret_cast<intptr_t>(handle);
  return file;
}

OwnedFile::~OwnedFile() {
  if (handle_ != -1) CloseHandle(reinterpret_cast<HANDLE>(handle_));
}

void OwnedFile::append(std::string_view text, bool durable) noexcept {
  DWORD written = 0;
  const HANDLE handle = reinterpret_cast<HANDLE>(handle_);
  if (handle_ == -1) return;
  WriteFile(handle, text.data(), static_cast<DWORD>(text.size()), &written, nullptr);
  if (durable) FlushFileBuffers(handle);
}

void OwnedFile::remove() noexcept {
  if (handle_ == -1) return;
  CloseHandle(reinterpret_cast<HANDLE>(std::exchange(handle_, -1)));
  DeleteFileW(path_.c_str());
}

std::optional<std::string> take_abandoned_file(const fs::path& path, uint64_t max_bytes) {
  const HANDLE handle = CreateFileW(path.c_str(), GENERIC_READ | DELETE, 0, nullptr, OPEN_EXISTING,
                                    FILE_ATTRIBUTE_NORMAL | FILE_FLAG_DELETE_ON_CLOSE, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return std::nullopt;
  LARGE_INTEGER size{};
  GetFileSizeEx(handle, &size);
  std::string text(static_cast<size_t>(std::min<uint64_t>(static_cast<uint64_t>(size.QuadPart), max_bytes)),
                   '\0');
  DWORD read = 0;
  ReadFile(handle, text.data(), static_cast<DWORD>(text.size()), &read, nullptr);
  CloseHandle(handle);
  text.resize(read);
  return text;
}

#else
namespace {

// flock() rather than fcntl(): its lock belongs to the open file, so that it also holds against this process,
// and is not lost when something else in the process closes the file.
bool lock(int file) { return flock(file, LOCK_EX | LOCK_NB) == 0; }

// Another process may have deleted the file between open() and flock().
bool is_deleted(int file) {
  struct stat status;
  return fstat(file, &status) != 0 || status.st_nlink == 0;
}

}  // namespace

std::unique_ptr<OwnedFile> OwnedFile::create(const fs::path& path) {
  std::unique_ptr<OwnedFile> file(new OwnedFile(path));
  const int handle =
      open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (handle < 0) return nullptr;
  file->handle_ = handle;
  file->process_ = static_cast<uint64_t>(getpid());
  if (lock(handle) && !is_deleted(handle)) return file;
  file->remove();
  return nullptr;
}

OwnedFile::~OwnedFile() {
  if (handle_ != -1) close(static_cast<int>(handle_));
}

void OwnedFile::append(std::string_view text, bool durable) noexcept {
  if (handle_ == -1 || static_cast<uint64_t>(getpid()) != process_) return;
  const int file = static_cast<int>(handle_);
  if (write(file, text.data(), text.size()) > 0 && durable) fsync(file);
}

void OwnedFile::remove() noexcept {
  if (handle_ == -1 || static_cast<uint64_t>(getpid()) != process_) return;
  unlink(path_.c_str());
  close(static_cast<int>(std::exchange(handle_, -1)));
}

std::optional<std::string> take_abandoned_file(const fs::path& path, uint64_t max_bytes) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  std::optional<std::string> text;
  if (lock(file) && !is_deleted(file)) {
    text.emplace();
    char part[4096];
    for (ssize_t bytes = 0; text->size() < max_bytes && (bytes = read(file, part, sizeof part)) > 0;)
      text->append(part, static_cast<size_t>(bytes));
    unlink(path.c_str());
  }
  close(file);
  return text;
}

#endif

}  // namespace vellum::platform

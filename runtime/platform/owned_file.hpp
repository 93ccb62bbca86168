// Files that show whether the process that writes them is still alive.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace vellum::platform {

// A file that one process writes while it is alive. The process holds a lock on it, which the system releases
// when the process ends, however it ends. (A process id would not suffice, because ids are reused.)
class OwnedFile {
 public:
  // Creates the file, accessible only to this user. Returns null if it exists or the file system has no
  // locks.
  static std::unique_ptr<OwnedFile> create(const std::filesystem::path& path);
  ~OwnedFile();  // closes the file without deleting it
  OwnedFile(const OwnedFile&) = delete;
  OwnedFile& operator=(const OwnedFile&) = delete;

  // Appends the text, which survives the end of the process. durable: it also survives a crash of the
  // machine, which takes milliseconds. Reports no error. After a fork only the parent writes.
  void append(std::string_view text, bool durable = false) noexcept;
  // Deletes the file, unless a fork's child calls it.
  void remove() noexcept;

 private:
  explicit OwnedFile(std::filesystem::path path);

  std::filesystem::path path_;
  intptr_t handle_ = -1;
  uint64_t process_ = 0;
};

// Returns the contents of the OwnedFile of a process that has ended, and deletes the file. Returns nothing if
// the process is alive, if another process takes the file, or if it cannot be read. Contents longer than
// max_bytes are truncated.
std::optional<std::string> take_abandoned_file(const std::filesystem::path& path, uint64_t max_bytes);

}  // namespace vellum::platform

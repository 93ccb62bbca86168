// The program's file functions (open, write, rename, ...), which can fail. They are defined in
// failing_files.cpp and so hold for the whole program that is linked with it, the C++ library included. For
// Linux.
#pragma once

#include <cstdint>
#include <filesystem>

namespace vellum::test {

enum class FileFault : uint8_t {
  none,
  io_error,     // the call fails with EIO, later ones do not
  disk_full,    // this call and all later ones that need space fail with ENOSPC
  read_only,    // this call and all later ones that change anything fail with EROFS
  short_write,  // a write stores half of its bytes and says so; others work
  folder_gone,  // the folder is removed before the call
};

// As long as it exists, counts the calls on files in the folder, or below it, and lets the call of this
// number, from 1, fail in that way; 0: none. Calls of other files are not touched. Only one exists at a time.
class FailingFiles {
 public:
  explicit FailingFiles(const std::filesystem::path& folder, FileFault fault = FileFault::none,
                        uint64_t failing_call = 0);
  ~FailingFiles();
  FailingFiles(const FailingFiles&) = delete;
  FailingFiles& operator=(const FailingFiles&) = delete;
  uint64_t calls() const;
};

}  // namespace vellum::test

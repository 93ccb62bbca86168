// A read-only memory mapping of a file, or of a range of it. The operating system pages it in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace vellum::platform {

class MappedFile {
 public:
  MappedFile() = default;
  // Maps the whole file; an empty file has no bytes. Throws Error(not_found) or Error(io), which name the
  // file.
  explicit MappedFile(const std::filesystem::path& path);
  // Maps a range. Throws Error(io) also if the file ends before the range.
  MappedFile(const std::filesystem::path& path, uint64_t offset, uint64_t bytes);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  // The mapped bytes, valid as long as this object. Reading them faults if another process truncates the
  // file, so map only files that nobody writes.
  std::span<const std::byte> bytes() const { return std::span(data_, size_).subspan(skipped_); }
  // Releases the pages from this process's memory. They are paged in again when they are read.
  void release_pages() const;

 private:
  const std::byte* data_ = nullptr;  // begins at a page boundary
  size_t size_ = 0, skipped_ = 0;    // skipped_: bytes between the page boundary and the range
};

}  // namespace vellum::platform

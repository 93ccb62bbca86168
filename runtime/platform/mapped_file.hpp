// A file, or a part of it, as read-only bytes, paged in by the operating system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace vellum::platform {

class MappedFile {
 public:
  MappedFile() = default;
  // Error(not_found) or Error(io), naming the file. An empty file gives no bytes.
  explicit MappedFile(const std::filesystem::path& path);
  // A part; Error(io) where the file ends before it does.
  MappedFile(const std::filesystem::path& path, uint64_t offset, uint64_t bytes);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  // Valid as long as this object. A file that another process shortens meanwhile may fault: give Vellum files
  // that nobody writes.
  std::span<const std::byte> bytes() const { return std::span(data_, size_).subspan(skipped_); }
  // The bytes are not needed for now: they need not stay in this process's memory until they are read again.
  void rest() const;

 private:
  const std::byte* data_ = nullptr;  // what the system mapped, from the beginning of a page
  size_t size_ = 0, skipped_ = 0;
};

}  // namespace vellum::platform

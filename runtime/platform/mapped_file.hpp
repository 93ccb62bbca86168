// A whole file as read-only bytes, paged in by the operating system.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace vellum::platform {

class MappedFile {
 public:
  MappedFile() = default;
  // Error(not_found) or Error(io), naming the file. An empty file gives no bytes.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  // Valid as long as this object. A file that another process shortens meanwhile may fault: give Vellum files
  // that nobody writes.
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace vellum::platform

#include "platform/mapped_file.hpp"

#include <cerrno>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "platform/system_message.hpp"
#include "platform/utf8_path.hpp"
#include "vellum/error.hpp"

#ifdef _WIN32
#include "platform/windows.hpp"
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace vellum::platform {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int code, bool missing) {
  throw Error(missing ? ErrorCode::not_found : ErrorCode::io,
              to_utf8(path) + ": cannot be read: " + system_message({code, std::system_category()}));
}

size_t checked_size(const std::filesystem::path& path, uint64_t size) {
  if (size > std::numeric_limits<size_t>::max())
    throw Error(ErrorCode::io, to_utf8(path) + ": too large to map into this process");
  return static_cast<size_t>(size);
}

// A range of a file; without `bytes`, all from the offset on.
struct Part {
  uint64_t offset = 0;  // a multiple of granularity()
  std::optional<uint64_t> bytes;

  size_t size_in(const std::filesystem::path& path, uint64_t file_size) const {
    if (offset > file_size || (bytes && *bytes > file_size - offset))
      throw Error(ErrorCode::io, to_utf8(path) + ": ends before byte " + std::to_string(offset) + "+" +
                                     std::to_string(bytes.value_or(0)));
    return checked_size(path, bytes.value_or(file_size - offset));
  }
};

#ifdef _WIN32

uint64_t granularity() {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwAllocationGranularity;
}

class Handle {
 public:
  explicit Handle(HANDLE handle) : handle_(handle) {}
  ~Handle() {
    if (handle_ != nullptr && handle_ != INVALID_HANDLE_VALUE) CloseHandle(handle_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  HANDLE get() const { return handle_; }

 private:
  HANDLE handle_;
};

std::span<const std::byte> map(const std::filesystem::path& path, Part part) {
  const Handle file(CreateFileW(path.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                                OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
  if (file.get() == INVALID_HANDLE_VALUE) {
    const DWORD code = GetLastError();
    fail(path, static_cast<int>(code), code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND);
  }
  LARGE_INTEGER bytes;
  if (!GetFileSizeEx(file.get(), &bytes)) fail(path, static_cast<int>(GetLastError()), false);
  const size_t size = part.size_in(path, static_cast<uint64_t>(bytes.QuadPart));
  if (size == 0) return {};
  const Handle mapping(CreateFileMappingW(file.get(), nullptr, PAGE_READONLY, 0, 0, nullptr));
  if (!mapping.get()) fail(path, static_cast<int>(GetLastError()), false);
  const void* data = MapViewOfFile(mapping.get(), FILE_MAP_READ, static_cast<DWORD>(part.offset >> 32),
                                   static_cast<DWORD>(part.offset), size);
  if (!data) fail(path, static_cast<int>(GetLastError()), false);
  return {static_cast<const std::byte*>(data), size};
}

void unmap(const std::byte* data, size_t) { UnmapViewOfFile(data); }

void drop_pages(const std::byte*, size_t) {}  // Windows trims them itself if memory is short

#else

uint64_t granularity() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

std::span<const std::byte> map(const std::filesystem::path& path, Part part) {
  // Without O_NONBLOCK opening a FIFO would wait for its writer.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) fail(path, errno, errno == ENOENT || errno == ENOTDIR);
  struct stat status;
  if (fstat(file.get(), &status) != 0) fail(path, errno, false);
  if (S_ISDIR(status.st_mode)) fail(path, EISDIR, false);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorCode::io, to_utf8(path) + ": is a device or a pipe, not a file");
  const size_t size = part.size_in(path, static_cast<uint64_t>(status.st_size));
  if (part.offset > static_cast<uint64_t>(std::numeric_limits<off_t>::max())) fail(path, EOVERFLOW, false);
  if (size == 0) return {};
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), static_cast<off_t>(part.offset));
  if (data == MAP_FAILED) fail(path, errno, false);
  return {static_cast<const std::byte*>(data), size};
}

void unmap(const std::byte* data, size_t size) { munmap(const_cast<std::byte*>(data), size); }

// The pages stay in the system's page cache until it evicts them.
void drop_pages(const std::byte* data, size_t size) {
  madvise(const_cast<std::byte*>(data), size, MADV_DONTNEED);
}

#endif

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const std::span<const std::byte> mapped = map(path, {});
  data_ = mapped.data();
  size_ = mapped.size();
}

MappedFile::MappedFile(const std::filesystem::path& path, uint64_t offset, uint64_t bytes) {
  const uint64_t skipped = offset % granularity();
  if (bytes > std::numeric_limits<uint64_t>::max() - skipped) fail(path, EINVAL, false);
  const std::span<const std::byte> mapped = map(path, {offset - skipped, skipped + bytes});
  data_ = mapped.data();
  size_ = mapped.size();
  skipped_ = mapped.empty() ? 0 : static_cast<size_t>(skipped);
}

MappedFile::~MappedFile() {
  if (data_) unmap(data_, size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      skipped_(std::exchange(other.skipped_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(skipped_, other.skipped_);
  return *this;
}

void MappedFile::release_pages() const {
  if (size_ > 0) drop_pages(data_, size_);
}

}  // namespace vellum::platform

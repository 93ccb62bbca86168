// POSIX file descriptors. Their ownership may pass to a Vulkan driver.
#pragma once

#include <utility>

namespace vellum::platform {

// Owns a file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  // Returns a second descriptor of the same file, with close-on-exec. Throws Error(invalid_argument) if `fd`
  // is no open file, and on systems without file descriptors.
  static FileDescriptor duplicate(int fd);
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace vellum::platform

#include "platform/file_descriptor.hpp"

#include <string>
#include <system_error>

#include "platform/system_message.hpp"
#include "vellum/error.hpp"

#ifndef _WIN32
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#endif

namespace vellum::platform {

#ifdef _WIN32

FileDescriptor::~FileDescriptor() = default;

FileDescriptor FileDescriptor::duplicate(int) {
  throw Error(ErrorCode::invalid_argument, "Windows shares no memory or semaphores by file descriptors");
}

#else

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

FileDescriptor FileDescriptor::duplicate(int fd) {
  const int second = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (second < 0)
    throw Error(ErrorCode::invalid_argument,
                "the file descriptor " + std::to_string(fd) + " cannot be imported: " +
                    system_message(std::error_code(errno, std::generic_category())));
  return FileDescriptor(second);
}

#endif

}  // namespace vellum::platform

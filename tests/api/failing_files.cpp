#include "failing_files.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace vellum::test {
namespace {

struct State {
  std::mutex mutex;
  std::string folder;
  FileFault fault = FileFault::none;
  uint64_t failing_call = 0, calls = 0;
  std::set<int> descriptors;  // of files in the folder
};

std::atomic<bool> is_watching = false;

State& state() {
  static State the_state;
  return the_state;
}

// The effect of a call on the file system.
enum class Effect : uint8_t { reads, takes_space, changes };

template <typename Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool is_watched(const char* path) {
  return is_watching && path && std::string_view(path).starts_with(state().folder);
}

bool is_watched(int descriptor) {
  if (!is_watching) return false;
  const std::lock_guard lock(state().mutex);
  return state().descriptors.contains(descriptor);
}

void remove_folder() {
  is_watching = false;
  std::error_code ignored;
  std::filesystem::remove_all(state().folder, ignored);
  is_watching = true;
}

// Counts the call. Returns the error that it fails with; 0: none.
int next_call(Effect effect) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const uint64_t call = ++s.calls;
  if (s.failing_call == 0 || call < s.failing_call) return 0;
  const bool is_first = call == s.failing_call;
  switch (s.fault) {
    case FileFault::io_error:
      return is_first ? EIO : 0;
    case FileFault::disk_full:
      return effect == Effect::takes_space ? ENOSPC : 0;
    case FileFault::read_only:
      return effect == Effect::reads ? 0 : EROFS;
    case FileFault::folder_gone:
      if (is_first) remove_folder();
      return 0;
    case FileFault::short_write:
    case FileFault::none:
      return 0;
  }
  return 0;
}

bool is_short_write() {
  const std::lock_guard lock(state().mutex);
  return state().fault == FileFault::short_write && state().calls == state().failing_call;
}

void note_descriptor(int descriptor) {
  if (descriptor < 0) return;
  const std::lock_guard lock(state().mutex);
  state().descriptors.insert(descriptor);
}

// The function's failure, or what the real one returns.
template <typename Result, typename Call>
Result counted(bool watched, Effect effect, Result failure, const Call& call) {
  if (!watched) return call();
  if (const int error = next_call(effect)) {
    errno = error;
    return failure;
  }
  return call();
}

Effect effect_of(int flags) {
  return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0 ? Effect::takes_space : Effect::reads;
}

Effect effect_of(const char* mode) { return std::strpbrk(mode, "wa+") ? Effect::takes_space : Effect::reads; }

}  // namespace

FailingFiles::FailingFiles(const std::filesystem::path& folder, FileFault fault, uint64_t failing_call) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.folder = folder.string();
  s.fault = fault;
  s.failing_call = failing_call;
  s.calls = 0;
  s.descriptors.clear();
  is_watching = true;
}

FailingFiles::~FailingFiles() { is_watching = false; }

uint64_t FailingFiles::calls() const { return state().calls; }

extern "C" {

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  static const auto function = real<int (*)(const char*, int, ...)>("open");
  const bool watched = is_watched(path);
  const int descriptor = counted(watched, effect_of(flags), -1, [&] { return function(path, flags, mode); });
  if (watched) note_descriptor(descriptor);
  return descriptor;
}

FILE* fopen64(const char* path, const char* mode) {
  static const auto function = real<FILE* (*)(const char*, const char*)>("fopen64");
  const bool watched = is_watched(path);
  FILE* const file =
      counted(watched, effect_of(mode), static_cast<FILE*>(nullptr), [&] { return function(path, mode); });
  if (watched && file) note_descriptor(fileno(file));
  return file;
}

int fclose(FILE* file) {
  static const auto function = real<int (*)(FILE*)>("fclose");
  const int descriptor = fileno(file);
  const bool watched = is_watched(descriptor);
  const int result = function(file);  // is closed in any case
  if (!watched) return result;
  {
    const std::lock_guard lock(state().mutex);
    state().descriptors.erase(descriptor);
  }
  return counted(watched, Effect::changes, EOF, [&] { return result; });
}

int close(int descriptor) {
  static const auto function = real<int (*)(int)>("close");
  if (is_watching) {
    const std::lock_guard lock(state().mutex);
    state().descriptors.erase(descriptor);
  }
  return function(descriptor);
}

ssize_t read(int descriptor, void* to, size_t bytes) {
  static const auto function = real<ssize_t (*)(int, void*, size_t)>("read");
  return counted(is_watched(descriptor), Effect::reads, ssize_t{-1},
                 [&] { return function(descriptor, to, bytes); });
}

ssize_t write(int descriptor, const void* from, size_t bytes) {
  static const auto function = real<ssize_t (*)(int, const void*, size_t)>("write");
  const bool watched = is_watched(descriptor);
  return counted(watched, Effect::takes_space, ssize_t{-1}, [&] {
    return function(descriptor, from, watched && is_short_write() && bytes > 1 ? bytes / 2 : bytes);
  });
}

ssize_t writev(int descriptor, const iovec* pieces, int count) {
  static const auto function = real<ssize_t (*)(int, const iovec*, int)>("writev");
  const bool watched = is_watched(descriptor);
  return counted(watched, Effect::takes_space, ssize_t{-1}, [&] {
    if (!watched || !is_short_write() || pieces[0].iov_len < 2) return function(descriptor, pieces, count);
    iovec half = pieces[0];
    half.iov_len /= 2;
    return function(descriptor, &half, 1);
  });
}

void* mmap(void* address, size_t bytes, int protection, int flags, int descriptor, off_t offset) noexcept {
  static const auto function = real<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
  return counted(descriptor >= 0 && is_watched(descriptor), Effect::reads, MAP_FAILED,
                 [&] { return function(address, bytes, protection, flags, descriptor, offset); });
}

int rename(const char* from, const char* to) noexcept {
  static const auto function = real<int (*)(const char*, const char*)>("rename");
  return counted(is_watched(to), Effect::takes_space, -1, [&] { return function(from, to); });
}

int mkdir(const char* path, mode_t mode) noexcept {
  static const auto function = real<int (*)(const char*, mode_t)>("mkdir");
  return counted(is_watched(path), Effect::takes_space, -1, [&] { return function(path, mode); });
}

int stat(const char* path, struct stat* status) noexcept {
  static const auto function = real<int (*)(const char*, struct stat*)>("stat");
  return counted(is_watched(path), Effect::reads, -1, [&] { return function(path, status); });
}

int fstat(int descriptor, struct stat* status) noexcept {
  static const auto function = real<int (*)(int, struct stat*)>("fstat");
  return counted(is_watched(descriptor), Effect::reads, -1, [&] { return function(descriptor, status); });
}

int statvfs(const char* path, struct statvfs* status) noexcept {
  static const auto function = real<int (*)(const char*, struct statvfs*)>("statvfs");
  return counted(is_watched(path), Effect::reads, -1, [&] { return function(path, status); });
}

}  // extern "C"

}  // namespace vellum::test

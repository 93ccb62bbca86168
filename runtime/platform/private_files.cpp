#include "platform/private_files.hpp"

#include <system_error>

#ifndef _WIN32
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace vellum::platform {

namespace fs = std::filesystem;

#ifdef _WIN32

// Folders of a user's profile are private.
void create_private_folders(const fs::path& folder) {
  std::error_code ignored;
  fs::create_directories(folder, ignored);
}

std::optional<std::string> why_untrusted(const fs::path&) { return std::nullopt; }

#else

void create_private_folders(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::exists(folder, error)) return;
  if (folder.has_parent_path() && folder.parent_path() != folder)
    create_private_folders(folder.parent_path());
  static_cast<void>(mkdir(folder.c_str(), S_IRWXU));
}

std::optional<std::string> why_untrusted(const fs::path& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  if (status.st_uid != geteuid() && status.st_uid != 0) return "it belongs to another user";
  if (status.st_mode & (S_IWGRP | S_IWOTH)) return "other users can write to it";
  return std::nullopt;
}

#endif

}  // namespace vellum::platform

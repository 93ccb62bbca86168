#include "platform/private_files.hpp"

#include <cerrno>
#include <system_error>

#ifdef _WIN32
#include <memory>
#include <vector>

#include "platform/windows.hpp"
// After windows.h.
#include <aclapi.h>
#else
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace vellum::platform {

namespace fs = std::filesystem;

#ifdef _WIN32
namespace {

// The security identifier of the user of this process; empty if the system does not say.
std::vector<BYTE> this_user() {
  HANDLE token = nullptr;
  if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) return {};
  const std::unique_ptr<void, decltype(&CloseHandle)> closes(token, CloseHandle);
  DWORD bytes = 0;
  GetTokenInformation(token, TokenUser, nullptr, 0, &bytes);
  std::vector<BYTE> user(bytes);
  if (!GetTokenInformation(token, TokenUser, user.data(), bytes, &bytes)) return {};
  return user;
}

// This user, the administrators, the system, and whoever owns the file, which is checked by itself.
bool is_trusted(PSID identifier, const std::vector<BYTE>& user) {
  return (!user.empty() &&
          EqualSid(identifier, reinterpret_cast<const TOKEN_USER*>(user.data())->User.Sid)) ||
         IsWellKnownSid(identifier, WinBuiltinAdministratorsSid) ||
         IsWellKnownSid(identifier, WinLocalSystemSid) || IsWellKnownSid(identifier, WinCreatorOwnerSid) ||
         IsWellKnownSid(identifier, WinCreatorOwnerRightsSid);
}

bool lets_others_write(const ACL& list, const std::vector<BYTE>& user) {
  constexpr DWORD kWrites = FILE_WRITE_DATA | FILE_APPEND_DATA | WRITE_DAC | WRITE_OWNER | GENERIC_WRITE |
                            GENERIC_ALL | FILE_DELETE_CHILD;
  for (DWORD i = 0; i < list.AceCount; ++i) {
    void* entry = nullptr;
    if (!GetAce(const_cast<ACL*>(&list), i, &entry)) return true;
    auto* allowed = static_cast<ACCESS_ALLOWED_ACE*>(entry);
    if (allowed->Header.AceType == ACCESS_ALLOWED_ACE_TYPE && (allowed->Mask & kWrites) != 0 &&
        !is_trusted(&allowed->SidStart, user))
      return true;
  }
  return false;
}

}  // namespace

// Folders below a user's profile are private by what they inherit.
void create_private_folders(const fs::path& folder) {
  std::error_code ignored;
  fs::create_directories(folder, ignored);
}

std::optional<std::string> why_untrusted(const fs::path& path) {
  PSID owner = nullptr;
  PACL list = nullptr;
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  const DWORD failure = GetNamedSecurityInfoW(path.c_str(), SE_FILE_OBJECT,
                                              OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION, &owner,
                                              nullptr, &list, nullptr, &descriptor);
  if (failure != ERROR_SUCCESS) return std::nullopt;
  const std::unique_ptr<void, FreeLocal> frees(descriptor);
  const std::vector<BYTE> user = this_user();
  if (owner && !is_trusted(owner, user)) return "it belongs to another user";
  // A disk without permissions (FAT) has no list either.
  if (list && lets_others_write(*list, user)) return "other users can write to it";
  return std::nullopt;
}

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
  if (stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return "its owner cannot be determined";
  }
  if (status.st_uid != geteuid() && status.st_uid != 0) return "it belongs to another user";
  if (status.st_mode & (S_IWGRP | S_IWOTH)) return "other users can write to it";
  return std::nullopt;
}

#endif

}  // namespace vellum::platform

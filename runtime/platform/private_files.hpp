// Who may write to a file: what a cache holds is run on the device, so that it must come from this user.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace vellum::platform {

// Makes the folder and those above it that are missing, for this user alone where the system has such
// permissions. What fails shows when a file is written there.
void create_private_folders(const std::filesystem::path& folder);

// Returns why other users than this one and the administrator may have written the file or folder, "it
// belongs to another user"; nothing if they cannot have, if it does not exist, or where the system has no
// such permissions.
std::optional<std::string> why_untrusted(const std::filesystem::path& path);

}  // namespace vellum::platform

// Permissions of cache files. Their contents run on the device, so only this user may be able to write them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace vellum::platform {

// Creates the folder and its missing parents, accessible only to this user if the system has such
// permissions. Reports no error: writing a file there will.
void create_private_folders(const std::filesystem::path& folder);

// Returns the reason why users other than this one and the administrator may have written the file or folder:
// "it belongs to another user". Returns nothing if they cannot have written it, if it does not exist, or if
// the system has no such permissions.
std::optional<std::string> why_untrusted(const std::filesystem::path& path);

}  // namespace vellum::platform

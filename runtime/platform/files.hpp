// Small files: whole reads, atomic writes, free disk space, and the user's cache folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

namespace vellum::platform {

// Returns the whole file; nothing if it does not exist, is no regular file, cannot be read, or is longer than
// max_bytes.
std::optional<std::vector<std::byte>> read_file(const std::filesystem::path& path, uint64_t max_bytes);

// Replaces the file atomically: a reader sees either the old or the new bytes, never a mixture. Creates the
// folder. Throws Error(io), which names the file, and leaves no temporary file behind.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
// Write the concatenated pieces in the same way.
void write_file_atomically(const std::filesystem::path& path,
                           std::initializer_list<std::span<const std::byte>> pieces);
void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::span<const std::byte>> pieces);

// Returns the free bytes of the disk on which the folder is, or would be created. Returns nothing if they
// cannot be determined.
std::optional<uint64_t> free_disk_bytes(std::filesystem::path folder);

// Returns the folder for Vellum's caches that the platform's conventions give this user. Empty if the
// environment names none.
std::filesystem::path default_cache_folder();

}  // namespace vellum::platform

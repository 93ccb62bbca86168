// Small files: whole reads and atomic writes, and where caches belong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

namespace vellum::platform {

// The whole file; nothing if there is none, it cannot be read or it is longer than max_bytes.
std::optional<std::vector<std::byte>> read_file(const std::filesystem::path& path, uint64_t max_bytes);

// Replaces the file in one step, so that a reader sees the old or the new bytes and never a part; makes the
// folder. Error(io) names the file and leaves nothing behind.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
// The same for bytes that lie in several places, one behind the other in the file.
void write_file_atomically(const std::filesystem::path& path,
                           std::initializer_list<std::span<const std::byte>> pieces);
void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::span<const std::byte>> pieces);

// Bytes that are free where the folder lies or will be made; nothing where the system does not tell.
std::optional<uint64_t> free_disk_bytes(std::filesystem::path folder);

// The user's folder for Vellum's caches, after the platform's custom; empty if the environment does not tell.
std::filesystem::path default_cache_folder();

}  // namespace vellum::platform

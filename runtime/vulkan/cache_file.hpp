// Cache files. Their contents can be recreated, so a file is used only if it is undamaged and was written for
// exactly the given key.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "platform/sha256.hpp"
#include "vellum/log.hpp"

namespace vellum::gpu {

// Reads the payload of a cache file; nothing if the file does not exist, has another version or key, or is
// damaged. A damaged file is logged.
std::optional<std::vector<std::byte>> read_cache_file(const std::filesystem::path& path,
                                                      const platform::Sha256Digest& key,
                                                      const LogCallback& log);

// Writes a cache file atomically. Throws Error(io) if the folder cannot be written or the disk is full.
void write_cache_file(const std::filesystem::path& path, const platform::Sha256Digest& key,
                      std::span<const std::byte> payload);

}  // namespace vellum::gpu

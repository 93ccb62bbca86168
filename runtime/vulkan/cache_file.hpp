// A file that holds what can be made again: believed only if every byte is as it was written, for exactly
// this key.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "platform/sha256.hpp"
#include "vellum/log.hpp"

namespace vellum::gpu {

// Nothing if there is no such file, or if it is of another version or key, or damaged; the last is logged.
std::optional<std::vector<std::byte>> read_cache_file(const std::filesystem::path& path,
                                                      const platform::Sha256Digest& key,
                                                      const LogCallback& log);

// Atomically. Error(io) if the folder cannot be written or the disk is full.
void write_cache_file(const std::filesystem::path& path, const platform::Sha256Digest& key,
                      std::span<const std::byte> payload);

}  // namespace vellum::gpu

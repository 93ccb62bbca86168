// Whole files in and out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace vellum::samples {

// Throws vellum::Error: not_found when there is no such file, io when it cannot be read.
std::vector<std::uint8_t> read_file(const std::filesystem::path& path);

// The lines of a text file, without their ends (LF or CR LF). Throws as read_file.
std::vector<std::string> read_lines(const std::filesystem::path& path);

// Writes beside the file and renames, so that the file is there whole or not at all. Throws vellum::Error
// (io).
void write_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);

}  // namespace vellum::samples

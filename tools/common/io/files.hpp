// Reads and writes whole files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_name.hpp"

namespace vellum::io {

// Reads a file. Throws vellum::Error: not_found if it does not exist, io if it cannot be read.
std::vector<std::uint8_t> read_file(const FileName& file);

// Reads the lines of a text file, without their ends (LF or CR LF). Throws the errors of read_file(),
// and invalid_argument for a file with zero bytes, which no text has.
std::vector<std::string> read_lines(const FileName& file);

// Writes a file atomically (a temporary file, then a rename). Throws vellum::Error (io).
void write_file(const FileName& file, std::span<const std::uint8_t> bytes);
void write_text(const FileName& file, std::string_view text);

}  // namespace vellum::io

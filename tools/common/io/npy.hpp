// NumPy's .npy files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/file_name.hpp"

namespace vellum::io {

// A row-major array. dtype is one of float32, float16, float64, int64, int32, int16, int8, uint8, bool.
struct NpyArray {
  std::string dtype;
  std::vector<std::int64_t> shape;  // empty for a single value
  std::vector<std::uint8_t> data;   // little-endian elements
};

// Returns the bytes of one element. Throws vellum::Error (unsupported) for a dtype that is not in the list
// above.
std::size_t npy_element_size(const std::string& dtype);

// Reads formats 1.0 to 3.0. Throws vellum::Error, which names the file, if it does not exist, is truncated,
// malformed, big-endian or column-major, or has another dtype.
NpyArray read_npy(const FileName& name);
// Parses a file's bytes; `name` is for messages.
NpyArray parse_npy(std::span<const std::uint8_t> file, const FileName& name);

// Writes an array. Throws vellum::Error: invalid_argument if shape, dtype and data disagree, io if it cannot
// be written.
void write_npy(const FileName& name, const NpyArray& array);

}  // namespace vellum::io

// NumPy's .npy files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace vellum::samples {

// A row-major array. dtype is one of float32, float16, float64, int64, int32, int16, int8, uint8, bool.
struct NpyArray {
  std::string dtype;
  std::vector<std::int64_t> shape;  // empty for a single value
  std::vector<std::uint8_t> data;   // little-endian elements
};

// Bytes of one element; throws vellum::Error (unsupported) for a dtype that is not in the list above.
std::size_t npy_element_size(const std::string& dtype);

// Reads formats 1.0 to 3.0. Throws vellum::Error naming the file when it is absent, truncated, malformed,
// big-endian, column-major, or of another dtype.
NpyArray read_npy(const std::filesystem::path& path);

// Throws vellum::Error: invalid_argument when shape, dtype and data disagree, io when it cannot be written.
void write_npy(const std::filesystem::path& path, const NpyArray& array);

}  // namespace vellum::samples

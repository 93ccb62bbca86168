#include "io/npy.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <limits>
#include <string_view>

#include "io/files.hpp"
#include "vellum/error.hpp"

namespace vellum::io {
namespace {

struct ElementType {
  std::string_view dtype;
  std::string_view descr;  // NumPy's name, with the byte order
  std::size_t size;
};

constexpr std::array<ElementType, 12> element_types{{{"float32", "<f4", 4},
                                                     {"float16", "<f2", 2},
                                                     {"float64", "<f8", 8},
                                                     {"int64", "<i8", 8},
                                                     {"int32", "<i4", 4},
                                                     {"int16", "<i2", 2},
                                                     {"int8", "|i1", 1},
                                                     {"uint64", "<u8", 8},
                                                     {"uint32", "<u4", 4},
                                                     {"uint16", "<u2", 2},
                                                     {"uint8", "|u1", 1},
                                                     {"bool", "|b1", 1}}};

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr std::size_t max_rank = 32;  // as in NumPy

[[noreturn]] void malformed(const FileName& name, const std::string& what) {
  throw Error(ErrorCode::invalid_argument, name.text() + ": not a usable .npy file: " + what);
}

// The text of the header's value for `key`: from after "'key':" to the end of the dictionary.
std::string_view value_of(const FileName& name, std::string_view header, std::string_view key) {
  std::string quoted("'");
  quoted.append(key).append("'");
  std::size_t position = header.find(quoted);
  if (position == std::string_view::npos) malformed(name, "its header has no " + quoted);
  position = header.find_first_not_of(" :", position + quoted.size());
  if (position == std::string_view::npos) malformed(name, "its header has no value for " + quoted);
  return header.substr(position);
}

std::vector<std::int64_t> parse_shape(const FileName& name, std::string_view text) {
  const std::size_t close = text.find(')');
  if (text.empty() || text.front() != '(' || close == std::string_view::npos)
    malformed(name, "its shape is no tuple");
  text = text.substr(1, close - 1);
  std::vector<std::int64_t> shape;
  while (true) {
    while (!text.empty() && (text.front() == ' ' || text.front() == ',')) text.remove_prefix(1);
    if (text.empty()) return shape;
    std::int64_t size = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (failure != std::errc() || size < 0 || shape.size() == max_rank)
      malformed(name, "its shape makes no sense");
    shape.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
}

// Bytes of an array of this shape; nothing when they exceed `limit`, so that no hostile shape overflows.
bool byte_count(const std::vector<std::int64_t>& shape, std::size_t element, std::size_t limit,
                std::size_t& bytes) {
  bytes = element;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
    bytes = 0;
    return true;
  }
  for (const std::int64_t size : shape) {
    if (static_cast<std::uint64_t>(size) > limit / bytes) return false;
    bytes *= static_cast<std::size_t>(size);
  }
  return bytes <= limit;
}

const ElementType& element_type(const std::string& dtype) {
  for (const ElementType& type : element_types) {
    if (type.dtype == dtype) return type;
  }
  throw Error(ErrorCode::unsupported, "element type " + dtype + " has no place in a .npy file");
}

}  // namespace

std::size_t npy_element_size(const std::string& dtype) { return element_type(dtype).size; }

NpyArray read_npy(const FileName& name) { return parse_npy(read_file(name), name); }

NpyArray parse_npy(std::span<const std::uint8_t> file, const FileName& name) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (file.empty()) malformed(name, "the file is empty");
  if (!text.starts_with(magic) || file.size() < 12) malformed(name, "it does not begin as one");
  const int version = file[6];
  if (version < 1 || version > 3)
    malformed(name, "format version " + std::to_string(version) + " is unknown");
  const std::size_t start = version == 1 ? 10 : 12;
  std::size_t length = file[8] | std::size_t{file[9]} << 8;
  if (version > 1) length |= std::size_t{file[10]} << 16 | std::size_t{file[11]} << 24;
  if (length > file.size() - start) malformed(name, "its header is truncated");
  const std::string_view header = text.substr(start, length);

  if (value_of(name, header, "fortran_order").starts_with("True")) {
    malformed(name, "its elements are in column-major order; save it with numpy.ascontiguousarray");
  }
  const std::string_view descr = value_of(name, header, "descr");
  const auto type =
      std::find_if(element_types.begin(), element_types.end(), [&](const ElementType& candidate) {
        return descr.substr(0, 1) == "'" && descr.substr(1).starts_with(std::string(candidate.descr) + "'");
      });
  if (type == element_types.end()) {
    malformed(name,
              "its element type " + std::string(descr.substr(0, descr.find(','))) + " is not supported");
  }

  NpyArray array{std::string(type->dtype), parse_shape(name, value_of(name, header, "shape")), {}};
  const std::size_t available = file.size() - start - length;
  std::size_t bytes = 0;
  if (!byte_count(array.shape, type->size, available, bytes))
    malformed(name, "it has less data than its shape says");
  const auto begin = file.begin() + static_cast<std::ptrdiff_t>(start + length);
  array.data.assign(begin, begin + static_cast<std::ptrdiff_t>(bytes));
  return array;
}

void write_npy(const FileName& name, const NpyArray& array) {
  const ElementType& type = element_type(array.dtype);
  std::size_t bytes = 0;
  const bool negative =
      std::any_of(array.shape.begin(), array.shape.end(), [](std::int64_t size) { return size < 0; });
  if (negative || !byte_count(array.shape, type.size, array.data.size(), bytes) ||
      bytes != array.data.size()) {
    throw Error(ErrorCode::invalid_argument, name.text() + ": " + std::to_string(array.data.size()) +
                                                 " bytes of " + array.dtype +
                                                 " do not fill the array's shape");
  }
  std::string shape;
  for (const std::int64_t size : array.shape) shape += std::to_string(size) + ", ";
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  std::string header =
      "{'descr': '" + std::string(type.descr) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');  // the data begins at a multiple of 64 bytes
  header += '\n';

  std::vector<std::uint8_t> file(magic.begin(), magic.end());
  file.insert(file.end(), {1, 0, static_cast<std::uint8_t>(header.size() & 0xff),
                           static_cast<std::uint8_t>(header.size() >> 8)});
  file.insert(file.end(), header.begin(), header.end());
  file.insert(file.end(), array.data.begin(), array.data.end());
  write_file(name, file);
}

}  // namespace vellum::io

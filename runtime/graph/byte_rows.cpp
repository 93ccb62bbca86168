#include "graph/byte_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace vellum {
namespace {

// Below this magnitude a row is zero: its scale would be a denormal number, which devices may flush.
constexpr float kLeastMagnitude = 1e-30f;

void to_bytes(std::span<const float> row, std::span<int32_t> words) {
  float largest = 0.0f;
  bool is_finite = true;
  for (const float value : row) {
    is_finite = is_finite && std::isfinite(value);
    largest = std::max(largest, std::fabs(value));
  }
  const bool is_zero = !is_finite || largest < kLeastMagnitude;
  const float inverse = is_zero ? 0.0f : 127.0f / largest;
  std::ranges::fill(words, 0);
  for (size_t i = 0; i < row.size() && !is_zero; ++i) {
    const auto byte = static_cast<int32_t>(std::nearbyint(std::clamp(row[i] * inverse, -127.0f, 127.0f)));
    words[i / 4] |= static_cast<int32_t>((static_cast<uint32_t>(byte) & 255u) << (8 * (i % 4)));
  }
  const float scale = is_zero ? 0.0f : largest / 127.0f;
  words.back() = std::bit_cast<int32_t>(is_finite ? scale : std::numeric_limits<float>::quiet_NaN());
}

void from_bytes(std::span<const int32_t> words, std::span<float> row) {
  const auto scale = std::bit_cast<float>(words.back());
  for (size_t i = 0; i < row.size(); ++i) {
    const auto byte = static_cast<int8_t>(static_cast<uint32_t>(words[i / 4]) >> (8 * (i % 4)) & 255u);
    row[i] = scale * static_cast<float>(byte);
  }
}

}  // namespace

Shape byte_rows_shape(Shape floats, int64_t channels) {
  floats.back() = floats.back() / channels * words_of_byte_row(channels);
  return floats;
}

Shape float_rows_shape(Shape words, int64_t channels) {
  words.back() = words.back() / words_of_byte_row(channels) * channels;
  return words;
}

HostTensor to_byte_rows(const HostTensor& floats, int64_t channels) {
  const std::vector<float> values = floats.to_floats();
  HostTensor words(DType::i32, byte_rows_shape(floats.shape(), channels));
  const auto width = static_cast<size_t>(channels), step = static_cast<size_t>(words_of_byte_row(channels));
  const std::span<int32_t> out = words.mutable_as<int32_t>();
  for (size_t row = 0; row < values.size() / width; ++row)
    to_bytes(std::span(values).subspan(row * width, width), out.subspan(row * step, step));
  return words;
}

HostTensor from_byte_rows(const HostTensor& words, int64_t channels) {
  HostTensor floats(DType::f32, float_rows_shape(words.shape(), channels));
  const auto width = static_cast<size_t>(channels), step = static_cast<size_t>(words_of_byte_row(channels));
  const std::span<const int32_t> in = words.as<int32_t>();
  const std::span<float> out = floats.mutable_as<float>();
  for (size_t row = 0; row < in.size() / step; ++row)
    from_bytes(in.subspan(row * step, step), out.subspan(row * width, width));
  return floats;
}

Shape packed_bytes_shape(Shape bytes) {
  bytes.back() /= 4;
  return bytes;
}

// The first byte is the lowest of a word, as in the memory of every device that Vellum runs on.
HostTensor pack_bytes(const HostTensor& bytes) {
  HostTensor words(DType::i32, packed_bytes_shape(bytes.shape()));
  if (words.byte_size() > 0) std::memcpy(words.mutable_data(), bytes.data(), words.byte_size());
  return words;
}

HostTensor unpack_bytes(const HostTensor& words, DType dtype) {
  Shape shape = words.shape();
  shape.back() *= 4;
  HostTensor bytes(dtype, std::move(shape));
  if (bytes.byte_size() > 0) std::memcpy(bytes.mutable_data(), words.data(), bytes.byte_size());
  return bytes;
}

HostTensor numbers_of_rows(RowFormat format, const HostTensor& words, int64_t channels) {
  if (format == RowFormat::scaled_bytes) return from_byte_rows(words, channels);
  if (format == RowFormat::bytes) return cast(unpack_bytes(words, DType::i8), DType::f32);
  std::vector<float> numbers;
  for (const int64_t byte : unpack_bytes(words, DType::u8).to_ints())
    for (const int64_t code : {byte % 16, byte / 16}) numbers.push_back(static_cast<float>(code - 8));
  Shape shape = words.shape();
  shape.back() *= 8;
  return HostTensor::f32(std::move(shape), numbers);
}

}  // namespace vellum

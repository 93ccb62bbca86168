// Rows of floats in 8 bits, as caches of keys and values are stored (SessionOptions::state_precision). A row
// has the channels of one token and head. It becomes 32-bit integers:
//
//   | 4 signed bytes | 4 signed bytes | ... | bits of the scale, a float |
//     channels 0..3    channels 4..7          value = scale * byte
//
// The scale is the largest magnitude of the row / 127. A row with NaN or infinities becomes NaN.
//
// Caches of 8-bit integers whose scales the model has are stored as the same bytes without a scale, four in a
// word. Each is a number, or two numbers of 4 bits plus 8, the lower bits first.
#pragma once

#include <cstdint>

#include "graph/tensor.hpp"

namespace vellum {

// How 32-bit words store the channels of a row.
enum class RowFormat : uint8_t {
  floats,        // in no words: an element for each channel
  scaled_bytes,  // signed bytes and their scale
  bytes,         // signed bytes
  nibbles,       // integers of 4 bits
};

// `channels`: of a row, a multiple of channels_of_word().
constexpr int64_t channels_of_word(RowFormat format) { return format == RowFormat::nibbles ? 8 : 4; }
constexpr int64_t words_of_row(RowFormat format, int64_t channels) {
  return channels / channels_of_word(format) + (format == RowFormat::scaled_bytes ? 1 : 0);
}
constexpr int64_t words_of_byte_row(int64_t channels) {
  return words_of_row(RowFormat::scaled_bytes, channels);
}
// Return the shape with the last dimension, which has whole rows, in words or in channels.
Shape byte_rows_shape(Shape floats, int64_t channels);
Shape float_rows_shape(Shape words, int64_t channels);

HostTensor to_byte_rows(const HostTensor& floats, int64_t channels);
HostTensor from_byte_rows(const HostTensor& words, int64_t channels);  // to f32

// Return the bytes of a tensor of 8-bit integers as words, whose last dimension is a quarter, and back.
Shape packed_bytes_shape(Shape bytes);
HostTensor pack_bytes(const HostTensor& bytes);
HostTensor unpack_bytes(const HostTensor& words, DType dtype);
// Returns the numbers of rows in words of a format other than `floats`, as f32.
HostTensor numbers_of_rows(RowFormat format, const HostTensor& words, int64_t channels);

}  // namespace vellum

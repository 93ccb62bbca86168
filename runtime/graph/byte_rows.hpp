// Rows of floats in 8 bits, as caches of keys and values are stored (SessionOptions::state_precision). A row
// has the channels of one token and head. It becomes 32-bit integers:
//
//   | 4 signed bytes | 4 signed bytes | ... | bits of the scale, a float |
//     channels 0..3    channels 4..7          value = scale * byte
//
// The scale is the largest magnitude of the row / 127. A row with NaN or infinities becomes NaN.
#pragma once

#include <cstdint>

#include "graph/tensor.hpp"

namespace vellum {

// `channels`: of a row, a multiple of four.
constexpr int64_t words_of_byte_row(int64_t channels) { return channels / 4 + 1; }
// Return the shape with the last dimension, which has whole rows, in words or in channels.
Shape byte_rows_shape(Shape floats, int64_t channels);
Shape float_rows_shape(Shape words, int64_t channels);

HostTensor to_byte_rows(const HostTensor& floats, int64_t channels);
HostTensor from_byte_rows(const HostTensor& words, int64_t channels);  // to f32

}  // namespace vellum

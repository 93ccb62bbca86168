// Matches rotary position embeddings that compute the real and the imaginary part of each pair of channels,
// as ONNX's RotaryEmbedding is decomposed.
#pragma once

#include <optional>

#include "passes/patterns/strided_view.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Concat(cos * a - sin * b, sin * a + cos * b, rest) along the channels: a and b are the first and the second
// `pairs` channels of x, and the rest, which may be missing, are its other channels.
struct RotatedPairs {
  ViewedValue x;
  ValueId cosines = kNoValue, sines = kNoValue;  // of the pairs; without Reshapes that precede them
  Shape table;                                   // the shape in which they are multiplied
  int64_t pairs = 0;
};

// Nothing if node `index` is no such Concat of four dimensions, whole groups of four channels and cosines
// that are the same for all images.
std::optional<RotatedPairs> match_rotated_pairs(const GraphEditor& editor, size_t index);

// Whether a factor of heads of shape (batch, head, token, channel) has one value for each channel, and is the
// same for all images.
bool is_rotation_table(const Shape& factor, const Shape& heads);

// (batch, head, token, channel), the leading ones of which may be missing.
Shape of_four_dimensions(const Shape& shape);

// Whether `part` has the channels of `whole` from `first` on.
bool has_channels_from(const StridedView& part, const StridedView& whole, int64_t first);

}  // namespace vellum

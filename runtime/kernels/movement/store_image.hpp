// The last dispatch for an output that is bound to an image of the application.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "caps/device_caps.hpp"
#include "program/program.hpp"

namespace vellum {

// A tensor read as an image: its size, and the strides of its elements.
struct ImagePixels {
  int64_t width = 0, height = 0, channels = 0;
  int64_t column = 0, row = 0, channel = 0;
};
// Returns all ways to read a shape as an image; may be empty.
std::vector<ImagePixels> readings_as_image(const Shape& shape);
// Returns how to read a shape as an image of width x height. Accepts [1, C, H, W] and [1, H, W, C] with one
// to four channels (the former if both match), [H, W, C] with three or four, [1, H, W] and [H, W]. Throws
// Error(unsupported) for other shapes, and Error(invalid_argument) if the size does not match.
ImagePixels image_pixels(const Shape& shape, int64_t width, int64_t height);

// Binding 0: the linear tensor of `element` (i32 or u8: bytes in 0..255). Binding 1: a storage image.
// qualifier: its format qualifier, "rgba8"; may be empty. The dispatch lists no bindings, because neither is
// a tensor of the program.
Dispatch store_image(const DeviceCaps& caps, const ImagePixels& pixels, ElementType element,
                     const std::string& qualifier);

}  // namespace vellum

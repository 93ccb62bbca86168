// The last dispatch of an output that is bound to an image of the application's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "caps/device_caps.hpp"
#include "program/program.hpp"

namespace vellum {

// The pixels of a tensor: its size as an image, and the steps between its elements.
struct ImagePixels {
  int64_t width = 0, height = 0, channels = 0;
  int64_t column = 0, row = 0, channel = 0;
};
// The ways to read a shape as an image; none if it is none.
std::vector<ImagePixels> readings_as_image(const Shape& shape);
// Accepts [1, C, H, W] and [1, H, W, C] with one to four channels (the former if both would do and the image
// is as large), [H, W, C] with three or four, [1, H, W] and [H, W]. Throws Error(unsupported) for other
// shapes, and Error(invalid_argument) if none of these is width x height.
ImagePixels image_pixels(const Shape& shape, int64_t width, int64_t height);

// Binding 0: the tensor, linear, of `element` (i32 or u8: bytes in 0..255). Binding 1: a storage image.
// qualifier: of its format, "rgba8"; empty: none. The dispatch lists no bindings, since neither is a tensor
// of a program.
Dispatch store_image(const DeviceCaps& caps, const ImagePixels& pixels, ElementType element,
                     const std::string& qualifier);

}  // namespace vellum

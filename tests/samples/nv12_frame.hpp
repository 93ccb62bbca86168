// Frames of a camera that sees a photo.
#pragma once

#include <cstdint>
#include <vector>

#include "io/image.hpp"

namespace vellum::samples {

// The photo at a place of a frame with an even size, black around it: BT.601 in limited range, chroma
// averaged over two by two pixels.
std::vector<std::uint8_t> nv12_frame(const io::Image& photo, int width, int height, int left, int top);

}  // namespace vellum::samples

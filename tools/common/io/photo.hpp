// Photos as frames of networks: the device resizes, normalises and orders the channels.
#pragma once

#include "io/image.hpp"
#include "io/picture_file.hpp"
#include "vellum/frame.hpp"

namespace vellum::io {

// Describes the photo in memory. Pixels are averaged if the photo is reduced. The network sees (pixel - mean)
// * scale in all channels, with pixels in 0..255.
FrameInput photo_frame(const Image& photo, float mean = 0, float scale = 1);

// Returns the value of the network's input: the photo's bytes.
Tensor photo_bytes(const Image& photo);

// Do the same for an 8-bit picture with alpha.
FrameInput picture_frame(const Picture& picture);
Tensor picture_bytes(const Picture& picture);

FrameSize size_of(const Image& photo);
FrameSize size_of(const FrameInput& frame);

}  // namespace vellum::io

// Photos as frames of networks: resizing, normalisation and the order of channels are work of the device.
#pragma once

#include "common/image.hpp"
#include "common/picture_file.hpp"
#include "common/region.hpp"
#include "vellum/frame.hpp"

namespace vellum::samples {

// The photo as it is in memory. Where it is reduced, pixels are averaged. The network sees (pixel - mean) *
// scale in all channels, with pixels in 0..255.
FrameInput photo_frame(const Image& photo, float mean = 0, float scale = 1);

// The value of the network's input: the photo's bytes.
Tensor photo_bytes(const Image& photo);

// The same for a picture with alpha, in 8 bits.
FrameInput picture_frame(const Picture& picture);
Tensor picture_bytes(const Picture& picture);

FrameSize size_of(const Image& photo);
FrameSize size_of(const FrameInput& frame);
// The region fills the network's input.
FrameTransform region_transform(const Region& region, FrameSize network);
// Converts a point of Vellum to one of the samples.
Point to_point(FramePoint point);

}  // namespace vellum::samples

// The input of a network from a photo, by the reference in double that the device is compared with.
#pragma once

#include <vector>

#include "io/image.hpp"
#include "vellum/frame.hpp"

namespace vellum::samples {

// [side][side][3], for a network with a square input of three channels.
std::vector<float> seen_by_network(const FrameInput& frame, const FrameTransform& transform,
                                   const io::Image& photo, int side);

}  // namespace vellum::samples

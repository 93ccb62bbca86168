// Regions of an image, upright or rotated.
#pragma once

#include <vector>

#include "common/resize.hpp"
#include "io/image.hpp"
#include "vellum/frame.hpp"

namespace vellum::samples {

// A parallelogram in pixels of the image. It may exceed the image, whose border is then repeated.
//
//   corner ---- right
//      |
//     down
struct Region {
  Point corner;
  Point right;
  Point down;

  // Converts coordinates in the region, 0..1 along both sides, to pixels of the image.
  Point to_image(Point inside) const;
};

// Returns a square around a centre, rotated clockwise (as seen in the image) by `angle` radians.
Region square_region(Point center, float side, float angle);

// Samples a region: width * height * 3 values in 0..255, interpolated linearly between pixel centres.
std::vector<float> cut_out(const io::Image& image, const Region& region, int width, int height);

// Returns the largest centred crop whose sides have the ratio width : height.
io::Image center_part(const io::Image& image, int width, int height);

// Returns the transform with which the region fills the network's input.
FrameTransform region_transform(const Region& region, FrameSize network);
// Converts a point of Vellum to one of the samples.
Point to_point(FramePoint point);

}  // namespace vellum::samples

// Parts of an image, upright or tilted.
#pragma once

#include <vector>

#include "common/image.hpp"
#include "common/resize.hpp"

namespace vellum::samples {

// A parallelogram: one corner and where the two sides lead that leave it, in pixels of the image. It may
// reach beyond the image, whose border is repeated then.
struct Region {
  Point corner;
  Point right;
  Point down;

  // From coordinates of the region, 0..1 along both sides, to pixels of the image.
  Point to_image(Point inside) const;
};

// A square of that side around a centre, turned clockwise (as seen in the image) by so many radians.
Region square_region(Point center, float side, float angle);

// width * height * 3 values in 0..255, linear between pixel centres.
std::vector<float> cut_out(const Image& image, const Region& region, int width, int height);

// The largest part in the middle of the image whose sides relate as width to height.
Image center_part(const Image& image, int width, int height);

}  // namespace vellum::samples

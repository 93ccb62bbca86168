// Scales an image to the square input of a network, and maps coordinates back.
#pragma once

#include <vector>

#include "common/image.hpp"

namespace vellum::samples {

struct Point {
  float x = 0;
  float y = 0;
};

// Resizes an image: width * height * 3 values in 0..255, not rounded. Along an axis that shrinks, a result is
// the average of the source pixels that it covers, weighted by coverage; along one that grows, it is
// interpolated linearly between pixel centres.
std::vector<float> resize(const Image& image, int width, int height);

// An image scaled to fit a square without distortion, centred; the rest is zero.
struct Letterbox {
  int side = 0;
  std::vector<float> rgb;  // [side][side][3], 0..255
  float scale_x = 1;       // pixels of the square per pixel of the image; the two differ by rounding only
  float scale_y = 1;
  float left = 0;  // position of the image in the square, in pixels
  float top = 0;

  // Converts coordinates in the square, 0..1, to pixels of the image; they may be outside it.
  Point to_image(Point in_square) const;
};

Letterbox letterbox(const Image& image, int side);

}  // namespace vellum::samples

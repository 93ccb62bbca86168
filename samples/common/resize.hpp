// Fitting an image into the square that a network reads, and the way back.
#pragma once

#include <vector>

#include "common/image.hpp"

namespace vellum::samples {

struct Point {
  float x = 0;
  float y = 0;
};

// width * height * 3 values in 0..255, not rounded. Along an axis that shrinks each result is the average of
// the source pixels under it, weighted by the share that is covered; along one that grows, linear
// interpolation between pixel centres.
std::vector<float> resize(const Image& image, int width, int height);

// An image scaled to fit a square, centred, the rest filled with zeros: nothing is stretched.
struct Letterbox {
  int side = 0;
  std::vector<float> rgb;  // [side][side][3], 0..255
  float scale_x = 1;       // pixels of the square for a pixel of the image; the two differ by rounding only
  float scale_y = 1;
  float left = 0;  // where the image begins in the square, in its pixels
  float top = 0;

  // From coordinates of the square, 0..1, to pixels of the image (which may lie outside it).
  Point to_image(Point in_square) const;
};

Letterbox letterbox(const Image& image, int side);

}  // namespace vellum::samples

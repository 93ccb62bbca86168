// Resizes images on the host.
#pragma once

#include <vector>

#include "io/image.hpp"

namespace vellum::samples {

struct Point {
  float x = 0;
  float y = 0;
};

// Resizes an image: width * height * 3 values in 0..255, not rounded. Along an axis that shrinks, a result is
// the average of the source pixels that it covers, weighted by coverage; along one that grows, it is
// interpolated linearly between pixel centres.
std::vector<float> resize(const io::Image& image, int width, int height);

}  // namespace vellum::samples

// From MediaPipe's selfie segmentation mask to a photo with another background.
#pragma once

#include <span>
#include <vector>

#include "common/image.hpp"

namespace vellum::samples {

// How much of each pixel is the person, 0..1.
struct Matte {
  int width = 0;
  int height = 0;
  std::vector<float> share;  // [height][width]

  double mean() const;
};

// The network's mask, [mask_height][mask_width] in 0..1, stretched to the photo's size (linear between pixel
// centres). Throws vellum::Error (invalid_argument) when a mask has another size or values that are no
// numbers.
Matte stretch_mask(std::span<const float> mask, int mask_width, int mask_height, int width, int height);

// Three passes of a box of 2 * radius + 1 pixels a side, which come close to a Gaussian; the border is
// repeated.
Image blur(const Image& image, int radius);

// The person from `photo` on `background`; all three are of one size.
Image replace_background(const Image& photo, const Image& background, const Matte& person);

}  // namespace vellum::samples

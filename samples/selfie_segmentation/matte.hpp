// Replaces the background of a photo, using MediaPipe's selfie segmentation mask.
#pragma once

#include <span>
#include <vector>

#include "io/image.hpp"

namespace vellum::samples {

// The share of each pixel that belongs to the person, 0..1.
struct Matte {
  int width = 0;
  int height = 0;
  std::vector<float> share;  // [height][width]

  double mean() const;
};

// Scales the network's mask, [mask_height][mask_width] in 0..1, to the photo's size, linearly between pixel
// centres. Throws vellum::Error (invalid_argument) if the mask has another size or contains NaN.
Matte stretch_mask(std::span<const float> mask, int mask_width, int mask_height, int width, int height);

// Blurs with three passes of a box filter of 2 * radius + 1 pixels a side, close to a Gaussian; the border is
// repeated.
io::Image blur(const io::Image& image, int radius);

// Returns the person of `photo` on `background`; all three have one size.
io::Image replace_background(const io::Image& photo, const io::Image& background, const Matte& person);

}  // namespace vellum::samples

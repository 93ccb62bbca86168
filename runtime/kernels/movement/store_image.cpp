#include "kernels/movement/store_image.hpp"

#include "kernels/framework/elements.hpp"
#include "kernels/framework/grid.hpp"
#include "shaders/movement/store_image.h"
#include "vellum/error.hpp"

namespace vellum {
namespace {

bool is_color(int64_t channels) { return channels >= 1 && channels <= 4; }

ImagePixels channels_first(int64_t c, int64_t h, int64_t w) { return {w, h, c, 1, w, w * h}; }
ImagePixels channels_last(int64_t h, int64_t w, int64_t c) { return {w, h, c, c, w * c, 1}; }

}  // namespace

std::vector<ImagePixels> readings_as_image(const Shape& s) {
  std::vector<ImagePixels> all;
  if (s.size() == 2) all.push_back(channels_first(1, s[0], s[1]));
  if (s.size() == 3 && s[0] == 1) all.push_back(channels_first(1, s[1], s[2]));
  if (s.size() == 3 && is_color(s[2]) && s[2] > 2) all.push_back(channels_last(s[0], s[1], s[2]));
  if (s.size() == 4 && s[0] == 1 && is_color(s[1])) all.push_back(channels_first(s[1], s[2], s[3]));
  if (s.size() == 4 && s[0] == 1 && is_color(s[3])) all.push_back(channels_last(s[1], s[2], s[3]));
  return all;
}

ImagePixels image_pixels(const Shape& shape, int64_t width, int64_t height) {
  const std::vector<ImagePixels> all = readings_as_image(shape);
  if (all.empty())
    throw Error(ErrorCode::unsupported,
                to_string(shape) +
                    " is no image: it is not [1, C, H, W], [1, H, W, C] or [H, W, C] with one to four "
                    "channels, nor [1, H, W] or [H, W]");
  for (const ImagePixels& pixels : all)
    if (pixels.width == width && pixels.height == height) return pixels;
  throw Error(ErrorCode::invalid_argument, to_string(shape) + " has " + std::to_string(all[0].width) + " x " +
                                               std::to_string(all[0].height) + " pixels, the image " +
                                               std::to_string(width) + " x " + std::to_string(height));
}

Dispatch store_image(const DeviceCaps& caps, const ImagePixels& pixels, ElementType element,
                     const std::string& qualifier) {
  const StoreImageParameters parameters{.steps = {pixels.column, pixels.row, pixels.channel, pixels.channels},
                                        .size = {pixels.width, pixels.height}};
  Dispatch dispatch =
      make_dispatch("store_image", grid_3d(caps, pixels.width, pixels.height, 1), {}, parameters);
  const bool floats = element == ElementType::f32;
  define(dispatch, "STORAGE_x", "LINEAR");
  define(dispatch, "ELEMENT_x", element_macro(element));
  define(dispatch, "BINDING_x", "0");
  define(dispatch, "BINDING_image", "1");
  if (!floats) define(dispatch, "BYTES");
  if (!qualifier.empty()) define(dispatch, "FORMAT", qualifier);
  return dispatch;
}

}  // namespace vellum

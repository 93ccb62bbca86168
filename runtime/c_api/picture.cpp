// Pictures in the C interface.
#include "vellum/picture.hpp"

#include "c_api/support.hpp"
#include "vellum/vellum_picture.h"

using vellum::c_api::checked_choice;
using vellum::c_api::guarded;
using vellum::c_api::require;

namespace {

static_assert(static_cast<int>(vellum::PictureColors::rgb) == VELLUM_PICTURE_RGB);
static_assert(static_cast<int>(vellum::PictureFilter::nearest) == VELLUM_PICTURE_NEAREST);
static_assert(static_cast<int>(vellum::ChannelOrder::last) == VELLUM_CHANNELS_LAST);

vellum_picture_output picture_defaults() {
  const vellum::PictureOutput defaults;
  vellum_picture_output picture{};
  picture.size = sizeof(picture);
  picture.low = defaults.low;
  picture.high = defaults.high;
  return picture;
}

}  // namespace

vellum::PictureOutput vellum::c_api::picture_output(const vellum_picture_output* c_picture) {
  require(c_picture, "picture");
  const vellum_picture_output picture = vellum::c_api::given_or_default(c_picture, picture_defaults());
  vellum::PictureOutput result;
  result.colors = checked_choice<vellum::PictureColors>(picture.colors, VELLUM_PICTURE_RGB, "colors");
  result.low = picture.low;
  result.high = picture.high;
  if (picture.palette_colors) require(picture.palette, "palette");
  for (size_t i = 0; picture.palette && i < picture.palette_colors; ++i) {
    const uint8_t* color = picture.palette + 4 * i;
    result.palette.push_back({color[0], color[1], color[2], color[3]});
  }
  result.filter = checked_choice<vellum::PictureFilter>(picture.filter, VELLUM_PICTURE_NEAREST, "filter");
  result.channels = checked_choice<vellum::ChannelOrder>(picture.channels, VELLUM_CHANNELS_LAST, "channels");
  result.width = picture.width;
  result.height = picture.height;
  if (picture.over) result.over = picture.over;
  if (picture.name) result.name = picture.name;
  return result;
}

void vellum_picture_output_init_sized(vellum_picture_output* picture, size_t size) {
  vellum::c_api::write_defaults(picture, size, picture_defaults());
}

vellum_status vellum_model_with_picture(const vellum_model* model, const char* name,
                                        const vellum_picture_output* picture, vellum_model** pictured,
                                        vellum_error* error) {
  if (pictured) *pictured = nullptr;
  return guarded(error, [&] {
    require(model, "model");
    require(name, "name");
    require(pictured, "pictured");
    *pictured =
        new vellum_model{vellum::with_picture(model->model, name, vellum::c_api::picture_output(picture))};
  });
}

// Pictures larger than memory, for C.
#include "vellum/large_pictures.hpp"

#include <string>

#include "c_api/support.hpp"

using vellum::c_api::guarded;
using vellum::c_api::require;

struct vellum_large_picture {
  vellum::LargePicture picture;
};

namespace {

vellum_large_picture_options large_picture_defaults() {
  vellum_large_picture_options options{};
  options.size = sizeof(options);
  return options;
}

vellum_picture_region region_to_c(const vellum::PictureRegion& region) {
  return {sizeof(vellum_picture_region),
          region.tensor,
          region.rows_axis,
          region.top,
          region.left,
          region.height,
          region.width};
}

void end_unless_zero(int32_t result, const char* callback) {
  if (result)
    throw vellum::Error(
        vellum::ErrorCode::cancelled,
        std::string("the run over a large picture was cancelled by its function ") + callback);
}

}  // namespace

void vellum_large_picture_options_init_sized(vellum_large_picture_options* options, size_t size) {
  vellum::c_api::write_defaults(options, size, large_picture_defaults());
}

vellum_status vellum_large_picture_create(const vellum_device* device, const vellum_model* model,
                                          const vellum_large_picture_options* options,
                                          vellum_large_picture** picture, vellum_error* error) {
  if (picture) *picture = nullptr;
  return guarded(error, [&] {
    require(device, "device");
    require(model, "model");
    require(picture, "picture");
    const vellum_large_picture_options c_options =
        vellum::c_api::given_or_default(options, large_picture_defaults());
    *picture = new vellum_large_picture{vellum::LargePicture(
        device->device, model->model,
        {vellum::c_api::session_options(c_options.session), c_options.tile_height, c_options.tile_width})};
  });
}

void vellum_large_picture_destroy(vellum_large_picture* picture) { delete picture; }

size_t vellum_large_picture_input_count(const vellum_large_picture* picture) {
  return picture ? picture->picture.inputs().size() : 0;
}

size_t vellum_large_picture_output_count(const vellum_large_picture* picture) {
  return picture ? picture->picture.outputs().size() : 0;
}

vellum_status vellum_large_picture_input(const vellum_large_picture* picture, size_t index,
                                         vellum_tensor_info* info, vellum_error* error) {
  return guarded(error, [&] {
    require(picture, "picture");
    vellum::c_api::write_tensor_info(picture->picture.inputs(), index, "input", info);
  });
}

vellum_status vellum_large_picture_output(const vellum_large_picture* picture, size_t index,
                                          vellum_tensor_info* info, vellum_error* error) {
  return guarded(error, [&] {
    require(picture, "picture");
    vellum::c_api::write_tensor_info(picture->picture.outputs(), index, "output", info);
  });
}

vellum_status vellum_large_picture_get_info(const vellum_large_picture* picture,
                                            vellum_large_picture_info* info, vellum_error* error) {
  return guarded(error, [&] {
    require(picture, "picture");
    const vellum::PictureTiles tiles = picture->picture.tiles();
    vellum::c_api::write_result(
        info, {0, tiles.height, tiles.width, tiles.down, tiles.across, picture->picture.peak_bytes()},
        "info");
  });
}

vellum_status vellum_large_picture_run(vellum_large_picture* picture, vellum_read_region_callback read,
                                       vellum_write_region_callback write, vellum_tile_callback progress,
                                       void* user, vellum_error* error) {
  return guarded(error, [&] {
    require(picture, "picture");
    if (!read) require(nullptr, "read");
    if (!write) require(nullptr, "write");
    vellum::LargePicture::TileProgress on_tile;
    if (progress)
      on_tile = [&](size_t done, size_t total) {
        end_unless_zero(progress(done, total, user), "progress");
        return true;
      };
    picture->picture.run(
        [&](const vellum::PictureRegion& region, std::span<std::byte> values) {
          const vellum_picture_region part = region_to_c(region);
          end_unless_zero(read(&part, values.data(), values.size(), user), "read");
        },
        [&](const vellum::PictureRegion& region, std::span<const std::byte> values) {
          const vellum_picture_region part = region_to_c(region);
          end_unless_zero(write(&part, values.data(), values.size(), user), "write");
        },
        on_tile);
  });
}

/* Pictures larger than memory in C: compiled as C, so that the header stays C. */
#include "c_large_picture_program.h"

#include "c_checks.h"
#include "c_device.h"

/* Two pictures of three channels, and what the callbacks saw. */
typedef struct job {
  const float* input;
  float* output;
  size_t height, width, scale;
  size_t tiles, end_after; /* 0: never */
  int wrong, end_in_read, end_in_write;
} job;

static int is_within(const vellum_picture_region* region, size_t height, size_t width, size_t byte_count) {
  return region->size == sizeof *region && region->tensor == 0 && region->rows_axis == 2 &&
         region->top >= 0 && region->left >= 0 && (size_t)(region->top + region->height) <= height &&
         (size_t)(region->left + region->width) <= width &&
         byte_count == (size_t)(3 * region->height * region->width) * sizeof(float);
}

/* The first element of a row of the region, in the whole picture. */
static size_t row_begin(const vellum_picture_region* region, size_t height, size_t width, int64_t row) {
  const size_t channel = (size_t)(row / region->height), y = (size_t)(region->top + row % region->height);
  return (channel * height + y) * width + (size_t)region->left;
}

static int32_t read_region(const vellum_picture_region* region, void* values, size_t byte_count, void* user) {
  job* the = user;
  float* to = values;
  if (!is_within(region, the->height, the->width, byte_count)) return the->wrong = 1;
  for (int64_t row = 0; row < 3 * region->height; ++row, to += region->width)
    memcpy(to, the->input + row_begin(region, the->height, the->width, row),
           (size_t)region->width * sizeof *to);
  return the->end_in_read;
}

static int32_t write_region(const vellum_picture_region* region, const void* values, size_t byte_count,
                            void* user) {
  job* the = user;
  const float* from = values;
  const size_t height = the->scale * the->height, width = the->scale * the->width;
  if (!is_within(region, height, width, byte_count)) return the->wrong = 1;
  for (int64_t row = 0; row < 3 * region->height; ++row, from += region->width)
    memcpy(the->output + row_begin(region, height, width, row), from, (size_t)region->width * sizeof *from);
  return the->end_in_write;
}

static int32_t count_tiles(size_t done, size_t total, void* user) {
  job* the = user;
  if (done > total) the->wrong = 1;
  the->tiles = done;
  return the->end_after && done == the->end_after;
}

int large_picture_in_c(const void* model_bytes, size_t model_size, const float* input, int height, int width,
                       int tile, int scale, float* output, char what[512]) {
  int line = 0;
  vellum_error error = {VELLUM_OK, ""};
  vellum_device* device = NULL;
  vellum_model* model = NULL;
  vellum_large_picture* picture = NULL;
  vellum_session_options session;
  vellum_large_picture_options options;
  vellum_large_picture_info info = VELLUM_SIZED(vellum_large_picture_info);
  vellum_tensor_info tensor = VELLUM_SIZED(vellum_tensor_info);
  const int64_t dims[] = {1, 3, height, width};
  const vellum_input_shape whole = {"x", dims, 4};
  job the = {input, output, (size_t)height, (size_t)width, (size_t)scale, 0, 0, 0, 0, 0};

  EXPECT(open_device(&device, &error) == VELLUM_OK);
  EXPECT(vellum_model_load_bytes(model_bytes, model_size, &model, &error) == VELLUM_OK);
  FAILS(vellum_large_picture_create(device, model, NULL, &picture, &error), VELLUM_INVALID_ARGUMENT,
        "input_shapes");
  EXPECT(picture == NULL && vellum_large_picture_input_count(picture) == 0);
  vellum_large_picture_options_init(&options);
  EXPECT(options.session == NULL && options.tile_height == 0 && options.tile_width == 0);
  vellum_session_options_init(&session);
  session.input_shapes = &whole;
  session.input_shape_count = 1;
  session.memory_budget = 64 << 20;
  options.session = &session;
  options.tile_height = options.tile_width = -1;
  FAILS(vellum_large_picture_create(device, model, &options, &picture, &error), VELLUM_INVALID_ARGUMENT,
        "tile");
  options.tile_height = options.tile_width = tile;
  EXPECT(vellum_large_picture_create(device, model, &options, &picture, &error) == VELLUM_OK);
  vellum_model_destroy(model);
  model = NULL;

  EXPECT(vellum_large_picture_input_count(picture) == 1 && vellum_large_picture_output_count(picture) == 1);
  EXPECT(vellum_large_picture_input(picture, 0, &tensor, &error) == VELLUM_OK);
  EXPECT(strcmp(tensor.name, "x") == 0 && tensor.dims[2] == height && tensor.dims[3] == width);
  EXPECT(vellum_large_picture_output(picture, 0, &tensor, &error) == VELLUM_OK);
  EXPECT(tensor.dims[2] == scale * height && tensor.dims[3] == scale * width);
  FAILS(vellum_large_picture_output(picture, 1, &tensor, &error), VELLUM_INVALID_ARGUMENT, "1");
  EXPECT(vellum_large_picture_get_info(picture, &info, &error) == VELLUM_OK);
  EXPECT(info.tile_height <= tile && info.tile_width <= tile && info.tiles_down * info.tiles_across > 2);

  FAILS(vellum_large_picture_run(picture, NULL, write_region, NULL, &the, &error), VELLUM_INVALID_ARGUMENT,
        "read");
  FAILS(vellum_large_picture_run(picture, read_region, NULL, NULL, &the, &error), VELLUM_INVALID_ARGUMENT,
        "write");
  the.end_after = 2;
  FAILS(vellum_large_picture_run(picture, read_region, write_region, count_tiles, &the, &error),
        VELLUM_CANCELLED, "progress");
  EXPECT(the.tiles == 2);
  the.end_in_read = 1;
  FAILS(vellum_large_picture_run(picture, read_region, write_region, NULL, &the, &error), VELLUM_CANCELLED,
        "read");
  the.end_in_read = 0;
  the.end_in_write = 1;
  FAILS(vellum_large_picture_run(picture, read_region, write_region, NULL, &the, &error), VELLUM_CANCELLED,
        "write");
  the.end_in_write = 0;
  the.end_after = 0;
  EXPECT(vellum_large_picture_run(picture, read_region, write_region, count_tiles, &the, &error) ==
         VELLUM_OK);
  EXPECT(the.wrong == 0 && the.tiles == info.tiles_down * info.tiles_across);
  EXPECT(vellum_large_picture_get_info(picture, &info, &error) == VELLUM_OK);
  EXPECT(info.peak_bytes > 0 && info.peak_bytes <= session.memory_budget);
done:
  vellum_large_picture_destroy(picture);
  vellum_model_destroy(model);
  vellum_device_destroy(device);
  return line;
}

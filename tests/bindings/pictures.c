/*
 * Pictures of a model in C, which those of Java (PictureTest.java) and Python (test_picture.py) equal:
 *
 *   pictures MODEL FRAME WIDTH HEIGHT OUTPUT      a model of one image input and one output of one channel,
 * an RGB frame
 *
 * Writes the pictures one after the other: the frame before a green wall, the mask alone on a ramp, the mask
 * in steps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vellum/vellum_frame.h>
#include <vellum/vellum_picture.h>

static const uint8_t wall_palette[] = {0, 177, 64, 255, 0, 177, 64, 0};
static const uint8_t ramp_palette[] = {0, 0, 0, 0, 255, 128, 0, 200, 1, 2, 3, 255};
static const uint8_t steps_palette[] = {9, 8, 7, 6, 250, 251, 252, 253, 100, 0, 100, 255};

static void check(vellum_status status, const vellum_error* error) {
  if (status == VELLUM_OK) return;
  fprintf(stderr, "pictures: %s\n", error->message);
  exit(1);
}

static void* allocate(size_t bytes) {
  void* memory = malloc(bytes);
  if (memory) return memory;
  fprintf(stderr, "pictures: the host is out of memory\n");
  exit(1);
}

static void write_picture(const vellum_device* device, const vellum_model* model,
                          const vellum_picture_output* picture, const void* frame, size_t frame_bytes,
                          FILE* file) {
  vellum_error error;
  vellum_tensor_info input = VELLUM_SIZED(vellum_tensor_info), output = input;
  vellum_model* pictured = NULL;
  vellum_session* session = NULL;
  check(vellum_model_input(model, 0, &input, &error), &error);
  check(vellum_model_output(model, 0, &output, &error), &error);
  const char* name = picture->name ? picture->name : output.name;
  check(vellum_model_with_picture(model, output.name, picture, &pictured, &error), &error);
  check(vellum_session_create(device, pictured, NULL, &session, &error), &error);
  check(vellum_session_set_input(session, input.name, frame, frame_bytes, &error), &error);
  check(vellum_session_run(session, &error), &error);
  const size_t index = vellum_session_output_count(session) - 1;
  check(vellum_session_output(session, index, &output, &error), &error);
  void* pixels = allocate(output.byte_size);
  check(vellum_session_get_output(session, name, pixels, output.byte_size, &error), &error);
  if (fwrite(pixels, 1, output.byte_size, file) != output.byte_size) exit(1);
  free(pixels);
  vellum_session_destroy(session);
  vellum_model_destroy(pictured);
}

int main(int count, char** arguments) {
  if (count != 6) return 2;
  vellum_error error;
  vellum_device* device = NULL;
  vellum_model *model = NULL, *framed = NULL;
  vellum_tensor_info input = VELLUM_SIZED(vellum_tensor_info);
  vellum_frame_transform part;
  vellum_frame_input camera;
  check(vellum_device_open(NULL, &device, &error), &error);
  check(vellum_model_load(arguments[1], &model, &error), &error);
  check(vellum_model_input(model, 0, &input, &error), &error);
  vellum_frame_input_init(&camera);
  camera.format = VELLUM_FRAME_RGB8;
  camera.width = (uint32_t)atoi(arguments[3]);
  camera.height = (uint32_t)atoi(arguments[4]);
  for (int i = 0; i < 4; ++i) camera.scale[i] = 1 / 255.0f;
  check(vellum_frame_letterbox(camera.width, camera.height, (double)input.dims[2], (double)input.dims[1],
                               &part, &error),
        &error);
  camera.transform = &part;
  size_t frame_bytes = 0;
  check(vellum_frame_input_bytes(&camera, &frame_bytes, &error), &error);
  void* frame = allocate(frame_bytes);
  FILE* file = fopen(arguments[2], "rb");
  if (!file || fread(frame, 1, frame_bytes, file) != frame_bytes) return 1;
  fclose(file);
  check(vellum_model_with_frames(model, input.name, &camera, &framed, &error), &error);
  file = fopen(arguments[5], "wb");
  if (!file) return 1;

  vellum_picture_output wall, ramp, steps;
  vellum_picture_output_init(&wall);
  wall.palette = wall_palette, wall.palette_colors = 2, wall.over = input.name;
  write_picture(device, framed, &wall, frame, frame_bytes, file);
  vellum_picture_output_init(&ramp);
  ramp.palette = ramp_palette, ramp.palette_colors = 3, ramp.low = 0.1f, ramp.high = 0.8f;
  ramp.width = 100, ramp.height = 61, ramp.channels = VELLUM_CHANNELS_LAST;
  write_picture(device, framed, &ramp, frame, frame_bytes, file);
  vellum_picture_output_init(&steps);
  steps.colors = VELLUM_PICTURE_STEPS, steps.filter = VELLUM_PICTURE_NEAREST, steps.name = "picture";
  steps.palette = steps_palette, steps.palette_colors = 3;
  write_picture(device, framed, &steps, frame, frame_bytes, file);

  const int failed = fclose(file) != 0;
  free(frame);
  vellum_model_destroy(framed);
  vellum_model_destroy(model);
  vellum_device_destroy(device);
  return failed;
}

/* Frames in C: compiled as C, so that the header stays C. */
#include "c_frame_program.h"

#include <string.h>
#include <vellum/vellum_frame.h>

#include "c_checks.h"
#include "c_device.h"

static int is_near(double a, double b) { return a - b < 1e-9 && b - a < 1e-9; }

static int check_transforms(char what[512]) {
  int line = 0;
  double x = 0, y = 0;
  vellum_error error = {VELLUM_OK, ""};
  vellum_frame_transform part, mirrored;

  EXPECT(vellum_frame_stretch(640, 480, 64, 48, &part, &error) == VELLUM_OK);
  EXPECT(vellum_frame_from_network(&part, 6.4, 4.8, &x, &y, &error) == VELLUM_OK);
  EXPECT(is_near(x, 64) && is_near(y, 48));
  EXPECT(vellum_frame_center_crop(640, 480, 10, 10, &part, &error) == VELLUM_OK);
  EXPECT(vellum_frame_from_network(&part, 0, 0, &x, &y, &error) == VELLUM_OK && is_near(x, 80));
  EXPECT(vellum_frame_rotated(50, 40, 20, 10, 0, 20, 10, &part, &error) == VELLUM_OK);
  EXPECT(vellum_frame_to_network(&part, 50, 40, &x, &y, &error) == VELLUM_OK && is_near(x, 10) && is_near(y, 5));
  EXPECT(vellum_frame_flip(&part, 0, &mirrored, &error) == VELLUM_OK);
  EXPECT(vellum_frame_from_network(&mirrored, 0, 0, &x, &y, &error) == VELLUM_OK && is_near(x, 40) &&
         is_near(y, 45));
  EXPECT(vellum_frame_region(10, 20, 30, 20, 10, 40, 20, 10, &part, &error) == VELLUM_OK);
  EXPECT(vellum_frame_from_network(&part, 20, 5, &x, &y, &error) == VELLUM_OK && is_near(x, 30) && is_near(y, 30));
  FAILS(vellum_frame_stretch(0, 480, 64, 48, &part, &error), VELLUM_INVALID_ARGUMENT, "no area");
  memset(&part, 0, sizeof part);
  FAILS(vellum_frame_to_network(&part, 1, 1, &x, &y, &error), VELLUM_INVALID_ARGUMENT, "no area");
  FAILS(vellum_frame_flip(NULL, 1, &part, &error), VELLUM_INVALID_ARGUMENT, "transform");
done:
  return line;
}

int frame_in_c(const void* model_bytes, size_t model_size, const unsigned char* frame, size_t frame_bytes,
               float* output, size_t output_bytes, char what[512]) {
  int line = check_transforms(what);
  size_t bytes = 0, i = 0;
  float values[6];
  vellum_error error = {VELLUM_OK, ""};
  vellum_device* device = NULL;
  vellum_model* model = NULL;
  vellum_model* framed = NULL;
  vellum_session* session = NULL;
  vellum_frame_transform part;
  vellum_frame_input camera;
  if (line) return line;

  EXPECT(open_device(&device, &error) == VELLUM_OK);
  EXPECT(vellum_model_load_bytes(model_bytes, model_size, &model, &error) == VELLUM_OK);
  vellum_frame_input_init(&camera);
  FAILS(vellum_model_with_frames(model, "x", &camera, &framed, &error), VELLUM_INVALID_ARGUMENT, "1..16384");
  camera.format = VELLUM_FRAME_NV12;
  camera.width = 64;
  camera.height = 36;
  camera.filter = VELLUM_FILTER_AREA;
  for (i = 0; i < 4; ++i) {
    camera.mean[i] = 128;
    camera.scale[i] = 1 / 128.0f;
  }
  EXPECT(vellum_frame_input_bytes(&camera, &bytes, &error) == VELLUM_OK && bytes == frame_bytes);
  FAILS(vellum_model_with_frames(model, "z", &camera, &framed, &error), VELLUM_NOT_FOUND, "'z'");
  camera.format = (vellum_frame_format)17;
  FAILS(vellum_model_with_frames(model, "x", &camera, &framed, &error), VELLUM_INVALID_ARGUMENT, "17");
  EXPECT(framed == NULL);
  camera.format = VELLUM_FRAME_NV12;
  EXPECT(vellum_model_with_frames(model, "x", &camera, &framed, &error) == VELLUM_OK);
  vellum_model_destroy(model);
  model = NULL;

  EXPECT(vellum_frame_letterbox(64, 36, 11, 9, &part, &error) == VELLUM_OK);
  EXPECT(vellum_frame_flip(&part, 1, &part, &error) == VELLUM_OK);
  vellum_frame_transform_values(&part, values);
  EXPECT(vellum_session_create(device, framed, NULL, &session, &error) == VELLUM_OK);
  EXPECT(vellum_session_set_input(session, "x", frame, frame_bytes, &error) == VELLUM_OK);
  EXPECT(vellum_session_set_input(session, "x.transform", values, sizeof values, &error) == VELLUM_OK);
  EXPECT(vellum_session_run(session, &error) == VELLUM_OK);
  EXPECT(vellum_session_get_output(session, "y", output, output_bytes, &error) == VELLUM_OK);
done:
  vellum_session_destroy(session);
  vellum_model_destroy(framed);
  vellum_model_destroy(model);
  vellum_device_destroy(device);
  return line;
}

/* Pictures in C: compiled as C, so that the header stays C. */
#include "c_picture_program.h"

#include <vellum/vellum_frame.h>
#include <vellum/vellum_picture.h>

#include "c_checks.h"
#include "c_device.h"

int picture_in_c(const void* model_bytes, size_t model_size, const unsigned char* frame, size_t frame_bytes,
                 unsigned char* picture, size_t picture_bytes, char what[512]) {
  static const uint8_t green[] = {0, 177, 64, 255, 0, 177, 64, 0};
  int line = 0;
  float values[6];
  vellum_error error = {VELLUM_OK, ""};
  vellum_device* device = NULL;
  vellum_model* model = NULL;
  vellum_model* framed = NULL;
  vellum_model* pictured = NULL;
  vellum_session* session = NULL;
  vellum_frame_transform part;
  vellum_frame_input camera;
  vellum_picture_output wall;

  EXPECT(open_device(&device, &error) == VELLUM_OK);
  EXPECT(vellum_model_load_bytes(model_bytes, model_size, &model, &error) == VELLUM_OK);
  vellum_frame_input_init(&camera);
  camera.format = VELLUM_FRAME_NV12;
  camera.width = 64;
  camera.height = 36;
  EXPECT(vellum_model_with_frames(model, "x", &camera, &framed, &error) == VELLUM_OK);

  vellum_picture_output_init(&wall);
  EXPECT(wall.low == 0 && wall.high == 1);
  wall.low = -0.5f;
  wall.palette_colors = 2;
  FAILS(vellum_model_with_picture(framed, "y", &wall, &pictured, &error), VELLUM_INVALID_ARGUMENT, "palette");
  wall.palette = green;
  wall.over = "z";
  FAILS(vellum_model_with_picture(framed, "y", &wall, &pictured, &error), VELLUM_INVALID_ARGUMENT, "'z'");
  wall.over = "x";
  wall.width = 32;
  wall.filter = (vellum_picture_filter)9;
  FAILS(vellum_model_with_picture(framed, "y", &wall, &pictured, &error), VELLUM_INVALID_ARGUMENT, "filter");
  wall.filter = VELLUM_PICTURE_BILINEAR;
  EXPECT(pictured == NULL);
  EXPECT(vellum_model_with_picture(framed, "y", &wall, &pictured, &error) == VELLUM_OK);

  EXPECT(vellum_frame_letterbox(64, 36, 11, 9, &part, &error) == VELLUM_OK);
  vellum_frame_transform_values(&part, values);
  EXPECT(vellum_session_create(device, pictured, NULL, &session, &error) == VELLUM_OK);
  EXPECT(vellum_session_set_input(session, "x", frame, frame_bytes, &error) == VELLUM_OK);
  EXPECT(vellum_session_set_input(session, "x.transform", values, sizeof values, &error) == VELLUM_OK);
  EXPECT(vellum_session_run(session, &error) == VELLUM_OK);
  EXPECT(vellum_session_get_output(session, "y", picture, picture_bytes, &error) == VELLUM_OK);
done:
  vellum_session_destroy(session);
  vellum_model_destroy(pictured);
  vellum_model_destroy(framed);
  vellum_model_destroy(model);
  vellum_device_destroy(device);
  return line;
}

// Finds faces in a photo with MediaPipe's BlazeFace, on Vellum's public API alone.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "common/draw.hpp"
#include "common/image.hpp"
#include "common/resize.hpp"
#include "common/sample.hpp"
#include "face_detection/blazeface.hpp"
#include "vellum/vellum.hpp"

namespace vellum::samples {
namespace {

struct Options {
  std::string model;
  float threshold = 0.5f;
  float overlap = 0.3f;
  RunOptions run;
};

// The network reads red, green and blue in -1..1.
Tensor network_input(const Letterbox& box) {
  std::vector<float> values = box.rgb;
  for (float& value : values) value = value / 127.5f - 1.0f;
  return Tensor::f32({1, box.side, box.side, 3}, values);
}

// The four outputs told apart by their shapes, [1, anchors, 1 or 16], and not by names that a converter
// chose.
BlazeFaceOutputs find_outputs(const std::map<std::string, Tensor>& outputs) {
  const auto find = [&](int64_t anchors, int64_t values) {
    for (const auto& [name, tensor] : outputs) {
      if (tensor.shape() == Shape{1, anchors, values}) return tensor.as<float>();
    }
    throw Error(ErrorCode::invalid_argument, "the model is no BlazeFace: it has no output of shape " +
                                                 to_string(Shape{1, anchors, values}));
  };
  return {find(512, 1), find(384, 1), find(512, 16), find(384, 16)};
}

void print_and_draw(const std::vector<Face>& faces, const Letterbox& box, Image& image) {
  static constexpr const char* keypoint_names[] = {"right eye", "left eye",  "nose tip",
                                                   "mouth",     "right ear", "left ear"};
  const int mark = std::max(2, std::min(image.width, image.height) / 150);
  const auto round = [](float value) { return static_cast<int>(std::lround(value)); };
  std::printf("%zu face%s found\n", faces.size(), faces.size() == 1 ? "" : "s");
  for (const Face& face : faces) {
    const Point top_left = box.to_image(face.top_left);
    const Point bottom_right = box.to_image(face.bottom_right);
    const int left = round(top_left.x), top = round(top_left.y);
    const int right = round(bottom_right.x), bottom = round(bottom_right.y);
    std::printf("  score %.4f, box x %d..%d, y %d..%d\n", face.score, left, right, top, bottom);
    draw_rectangle(image, left, top, right, bottom, {0, 230, 64}, mark);
    for (std::size_t i = 0; i < face.keypoints.size(); ++i) {
      const Point point = box.to_image(face.keypoints[i]);
      std::printf("    %-9s %4d, %4d\n", keypoint_names[i], round(point.x), round(point.y));
      draw_disc(image, round(point.x), round(point.y), mark, {255, 32, 96});
    }
  }
}

void detect_faces(const Options& options) {
  Image image = load_image(options.run.photo);
  const Model model = load_model(options.model);
  const int side = square_input_side(model, 3, "BlazeFace");  // 128 (front camera) or 256 (back camera)
  const Device device = open_device(options.run);
  Session session = open_session(device, model, options.run);

  const Letterbox box = letterbox(image, side);
  const std::map<std::string, Tensor> outputs = session.run({{model.inputs()[0].name, network_input(box)}});
  const std::vector<Face> found = decode_blazeface(find_outputs(outputs), box.side, options.threshold);
  print_and_draw(merge_overlapping(found, options.overlap), box, image);

  print_reuse_table(session, options.run);
  write_photo(image, options.run);
}

}  // namespace
}  // namespace vellum::samples

int main(int argc, char** argv) {
  using namespace vellum::samples;
  Options options;
  CLI::App app("Finds faces in a photo with MediaPipe's BlazeFace and marks them in a copy of it.",
               "face_detection");
  app.add_option("model", options.model, "BlazeFace as ONNX, front (128x128) or back (256x256)")->required();
  add_photo_options(app, options.run, "faces.png");
  add_fraction(app, "--threshold", options.threshold, "least score of a face, 0..1");
  add_fraction(app, "--overlap", options.overlap,
               "overlap (intersection over union) from which two boxes are one face");
  return run_sample(app, argc, argv, [&] { detect_faces(options); });
}

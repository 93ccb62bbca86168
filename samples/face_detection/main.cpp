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
#include "common/reuse_table.hpp"
#include "common/sample.hpp"
#include "face_detection/blazeface.hpp"
#include "vellum/vellum.hpp"

namespace vellum::samples {
namespace {

struct Options {
  std::string model;
  std::string photo;
  std::string output = "faces.png";
  float threshold = 0.5f;
  float overlap = 0.3f;
  RunOptions run;
};

// The side of the square image that the network reads: 128 (front camera) or 256 (back camera).
int input_side(const Model& model) {
  const std::vector<TensorInfo> inputs = model.inputs();
  if (inputs.size() != 1 || inputs[0].shape.size() != 4 || inputs[0].shape[1] != inputs[0].shape[2] ||
      inputs[0].shape[3] != 3 || inputs[0].shape[1] < 1) {
    throw Error(ErrorCode::invalid_argument,
                "the model is no BlazeFace: its input is not [1, side, side, 3]");
  }
  return static_cast<int>(inputs[0].shape[1]);
}

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
  Image image = load_image(options.photo);
  const Model model = load_model(options.model);
  const int side = input_side(model);
  const Device device = open_device(options.run);
  Session session = open_session(device, model, options.run);

  const Letterbox box = letterbox(image, side);
  const std::map<std::string, Tensor> outputs = session.run({{model.inputs()[0].name, network_input(box)}});
  const std::vector<Face> found = decode_blazeface(find_outputs(outputs), box.side, options.threshold);
  print_and_draw(merge_overlapping(found, options.overlap), box, image);

  if (options.run.reuse_table) std::fputs(reuse_table(session.memory()).c_str(), stdout);
  write_png(options.output, image);
  std::printf("annotated photo: %s\n", options.output.c_str());
}

}  // namespace
}  // namespace vellum::samples

int main(int argc, char** argv) {
  vellum::samples::Options options;
  CLI::App app("Finds faces in a photo with MediaPipe's BlazeFace and marks them in a copy of it.",
               "face_detection");
  app.add_option("model", options.model, "BlazeFace as ONNX, front (128x128) or back (256x256)")->required();
  app.add_option("photo", options.photo, "PNG or JPEG")->required();
  app.add_option("-o,--output", options.output, "annotated PNG to write")->capture_default_str();
  app.add_option("--threshold", options.threshold, "least score of a face, 0..1")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--overlap", options.overlap,
                 "overlap (intersection over union) from which two boxes are one face")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  add_run_options(app, options.run);
  return vellum::samples::run_sample(app, argc, argv, [&] { vellum::samples::detect_faces(options); });
}

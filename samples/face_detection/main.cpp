// Finds faces in a photo with MediaPipe's BlazeFace, on Vellum's public API alone.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "common/draw.hpp"
#include "common/json.hpp"
#include "face_detection/detector.hpp"

namespace vellum::samples {
namespace {

struct Options {
  std::string model;
  FaceThresholds thresholds;
  RunOptions run;
};

void print_and_draw(const std::vector<Face>& faces, const RunOptions& options, io::Image& image) {
  static constexpr const char* keypoint_names[] = {"right eye", "left eye",  "nose tip",
                                                   "mouth",     "right ear", "left ear"};
  const int mark = std::max(2, std::min(image.width, image.height) / 150);
  const auto round = [](float value) { return static_cast<int>(std::lround(value)); };
  nlohmann::ordered_json& list = field(options, "faces") = nlohmann::ordered_json::array();
  say(options, "%zu face%s found\n", faces.size(), faces.size() == 1 ? "" : "s");
  for (const Face& face : faces) {
    const int left = round(face.top_left.x), top = round(face.top_left.y);
    const int right = round(face.bottom_right.x), bottom = round(face.bottom_right.y);
    say(options, "  score %.4f, box x %d..%d, y %d..%d\n", face.score, left, right, top, bottom);
    list.push_back({{"score", face.score}, {"box", box_json(face.top_left, face.bottom_right)}});
    draw_rectangle(image, left, top, right, bottom, {0, 230, 64}, mark);
    for (std::size_t i = 0; i < face.keypoints.size(); ++i) {
      const Point point = face.keypoints[i];
      say(options, "    %-9s %4d, %4d\n", keypoint_names[i], round(point.x), round(point.y));
      list.back()["points"][keypoint_names[i]] = to_json(point);
      draw_disc(image, round(point.x), round(point.y), mark, {255, 32, 96});
    }
  }
}

void detect_faces(const Options& options) {
  io::Image image = load_photo(options.run);
  const Device device = open_device(options.run);
  FaceDetector detector(device, options.model, options.run);
  print_and_draw(detector.find(image, options.thresholds), options.run, image);
  print_reuse_table(detector.session(), options.run);
  write_photo(image, options.run);
}

}  // namespace
}  // namespace vellum::samples

int main(int argc, char** argv) {
  using namespace vellum::samples;
  Options options;
  CLI::App app("Finds faces in a photo with MediaPipe's BlazeFace and marks them in a copy of it.",
               "face_detection");
  app.add_option("model", options.model, "BlazeFace as ONNX (front, back) or TFLite (short range)")
      ->required();
  add_photo_options(app, options.run, "faces.png");
  add_fraction(app, "--threshold", options.thresholds.score, "least score of a face, 0..1");
  add_fraction(app, "--overlap", options.thresholds.overlap,
               "overlap (intersection over union) from which two boxes are one face");
  return run_sample(app, argc, argv, options.run, [&] { detect_faces(options); });
}

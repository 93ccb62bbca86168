// Finds straight line segments in a photo with M-LSD, on Vellum's public API alone.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "common/draw.hpp"
#include "common/image.hpp"
#include "common/photo.hpp"
#include "common/sample.hpp"
#include "line_detection/mlsd.hpp"
#include "vellum/vellum.hpp"

namespace vellum::samples {
namespace {

struct Options {
  std::string model;
  MlsdThresholds thresholds;
  RunOptions run;
};

// Red, green and blue in 0..255, the photo stretched to the square, and a fourth channel of ones, as the
// network was trained (https://github.com/navervision/mlsd, utils.py).
FrameInput mlsd_frame(const Image& photo, int side) {
  FrameInput frame = photo_frame(photo);
  frame.scale[3] = 1 / 255.0f;  // alpha, which is 255
  const auto length = static_cast<double>(side);
  frame.transform = FrameTransform::stretch(size_of(photo), {length, length});
  return frame;
}

// Told apart by their channels, not by names that a converter chose.
const Tensor& output_with_channels(const std::map<std::string, Tensor>& outputs, int64_t channels) {
  for (const auto& [name, tensor] : outputs) {
    const Shape& shape = tensor.shape();
    if (shape.size() == 4 && shape[0] == 1 && shape[1] == shape[2] && shape[3] == channels) return tensor;
  }
  throw Error(ErrorCode::invalid_argument,
              "the model is no M-LSD: it has no square output of " + std::to_string(channels) + " channels");
}

void print_and_draw(const std::vector<Line>& lines, Image& image) {
  const auto width = static_cast<float>(image.width), height = static_cast<float>(image.height);
  const float thickness = std::max(2.0f, std::min(width, height) / 200);
  std::printf("%zu line%s found\n", lines.size(), lines.size() == 1 ? "" : "s");
  for (const Line& line : lines) {
    const Point start{line.start.x * width, line.start.y * height};
    const Point end{line.end.x * width, line.end.y * height};
    std::printf("  score %.4f, from %4ld, %4ld to %4ld, %4ld\n", line.score, std::lround(start.x),
                std::lround(start.y), std::lround(end.x), std::lround(end.y));
    draw_line(image, start, end, {255, 32, 96}, thickness);
  }
}

void detect_lines(const Options& options) {
  Image image = load_image(options.run.photo);
  const Model model = load_model(options.model);
  const int side = square_input_side(model, 4, "M-LSD");  // 320 (tiny) or 512 (large)
  const std::string input = model.inputs()[0].name;
  const Device device = open_device(options.run);
  Session session = open_session(device, with_frames(model, input, mlsd_frame(image, side)), options.run);
  const std::map<std::string, Tensor> outputs = session.run({{input, photo_bytes(image)}});

  const Tensor& scores = output_with_channels(outputs, 1);
  const Tensor& displacements = output_with_channels(outputs, 4);
  print_and_draw(decode_mlsd(scores.as<float>(), displacements.as<float>(),
                             static_cast<int>(scores.shape()[1]), options.thresholds),
                 image);
  print_reuse_table(session, options.run);
  write_photo(image, options.run);
}

}  // namespace
}  // namespace vellum::samples

int main(int argc, char** argv) {
  using namespace vellum::samples;
  Options options;
  CLI::App app("Finds straight line segments in a photo with M-LSD and marks them in a copy of it.",
               "line_detection");
  app.add_option("model", options.model, "M-LSD as ONNX, tiny (320x320) or large (512x512)")->required();
  add_photo_options(app, options.run, "lines.png");
  add_fraction(app, "--threshold", options.thresholds.score, "least score of a line, 0..1");
  add_fraction(app, "--length", options.thresholds.length, "least length, as a fraction of the photo's side",
               1.5);
  app.add_option("--lines", options.thresholds.lines, "the most lines, best first")->capture_default_str();
  return run_sample(app, argc, argv, [&] { detect_lines(options); });
}

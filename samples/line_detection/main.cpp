// Finds straight line segments in a photo with M-LSD, on Vellum's public API alone.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "common/draw.hpp"
#include "common/json.hpp"
#include "common/sample.hpp"
#include "io/image.hpp"
#include "io/photo.hpp"
#include "line_detection/mlsd.hpp"
#include "vellum/vellum.hpp"

namespace vellum::samples {
namespace {

struct Options {
  std::string model;
  MlsdThresholds thresholds;
  RunOptions run;
};

void print_and_draw(const std::vector<Line>& lines, const RunOptions& options, io::Image& image) {
  const auto width = static_cast<float>(image.width), height = static_cast<float>(image.height);
  const float thickness = std::max(2.0f, std::min(width, height) / 200);
  nlohmann::ordered_json& list = field(options, "lines") = nlohmann::ordered_json::array();
  say(options, "%zu line%s found\n", lines.size(), lines.size() == 1 ? "" : "s");
  for (const Line& line : lines) {
    const Point start{line.start.x * width, line.start.y * height};
    const Point end{line.end.x * width, line.end.y * height};
    say(options, "  score %.4f, from %4ld, %4ld to %4ld, %4ld\n", line.score, std::lround(start.x),
        std::lround(start.y), std::lround(end.x), std::lround(end.y));
    list.push_back({{"score", line.score}, {"from", to_json(start)}, {"to", to_json(end)}});
    draw_line(image, start, end, {255, 32, 96}, thickness);
  }
}

void detect_lines(const Options& options) {
  io::Image image = load_photo(options.run);
  const Model model = load_model(options.model);
  const int side = square_input_side(model, 4, "M-LSD");  // 320 (tiny) or 512 (large)
  const std::string input = model.inputs()[0].name;
  const Device device = open_device(options.run);
  Session session =
      open_session(device, with_frames(model, input, mlsd_frame(io::photo_frame(image), side)), options.run);
  const std::map<std::string, Tensor> outputs = session.run({{input, io::photo_bytes(image)}});

  const MlsdOutputs found = find_mlsd_outputs(outputs);
  print_and_draw(decode_mlsd(found.scores, found.displacements, found.side, options.thresholds), options.run,
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
  app.add_option("--lines", options.thresholds.lines, "the most lines, best first")
      ->check(CLI::Range(1u, 1u << 20))
      ->capture_default_str();
  return run_sample(app, argc, argv, options.run, [&] { detect_lines(options); });
}

// Reads the text in a photo with PP-OCR's detection and recognition networks, on Vellum's public API alone.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "common/draw.hpp"
#include "common/json.hpp"
#include "common/sample.hpp"
#include "common/text.hpp"
#include "io/image.hpp"
#include "io/photo.hpp"
#include "ocr/reading.hpp"
#include "ocr/text_lines.hpp"
#include "vellum/vellum.hpp"

namespace vellum::samples {
namespace {

struct Options {
  std::string detector;
  std::string reader;
  std::string characters;
  int side = 960;
  float confidence = 0.5f;
  TextThresholds thresholds;
  RunOptions run;
};

constexpr int kStripHeight = 48;
// Strips are padded to whole steps, so that lines of a similar length share a session.
constexpr int kStripStep = 160;
constexpr int kLongestStrip = 20 * kStripStep;

std::string only_input(const Model& model, const char* what) {
  const std::vector<TensorInfo>& inputs = model.inputs();
  if (inputs.size() != 1 || inputs[0].shape.size() != 4 || model.outputs().size() != 1)
    throw Error(ErrorCode::invalid_argument,
                std::string("the model is no text ") + what + ": it has other inputs or outputs");
  return inputs[0].name;
}

std::vector<TextLine> detect(const Device& device, const Options& options, const io::Image& image) {
  const Model model = load_model(options.detector);
  const std::string input = only_input(model, "detector");
  const FrameInput frame = text_frame(io::photo_frame(image), options.side);
  const auto height = static_cast<int>(frame.network_shape[2]),
             width = static_cast<int>(frame.network_shape[3]);
  const Model framed = with_frames(model, input, frame);
  Session session = open_session(device, framed, options.run);
  const std::map<std::string, Tensor> outputs = session.run({{input, io::photo_bytes(image)}});
  print_reuse_table(session, options.run);
  std::vector<TextLine> lines =
      find_text_lines(outputs.begin()->second.as<float>(), width, height, options.thresholds);
  for (TextLine& line : lines)
    for (Point& corner : line.corners)
      corner = {corner.x * static_cast<float>(image.width) / static_cast<float>(width),
                corner.y * static_cast<float>(image.height) / static_cast<float>(height)};
  return lines;
}

class Reader {
 public:
  Reader(const Device& device, const Options& options)
      : device_(device),
        options_(options),
        pool_(device),
        model_(load_model(options.reader)),
        input_(only_input(model_, "reader")),
        characters_(read_characters(options.characters)) {}

  ReadText read(const io::Image& image, const TextLine& line) {
    const float length = line.width() * kStripHeight / std::max(line.height(), 1.0f);
    const int steps = static_cast<int>(std::ceil(std::min(length, 1.0f * kLongestStrip) / kStripStep));
    const int width = std::max(steps, 1) * kStripStep;
    const Shape shape{1, 3, kStripHeight, width};
    const Tensor strip = Tensor::f32(shape, line_strip(image, line, width, kStripHeight));
    const std::map<std::string, Tensor> outputs = session(width, shape).run({{input_, strip}});
    const Tensor& scores = outputs.begin()->second;
    return spell(scores.as<float>(), static_cast<std::size_t>(scores.shape().back()), characters_);
  }

 private:
  Session& session(int width, const Shape& shape) {
    auto found = sessions_.find(width);
    if (found == sessions_.end())
      found = sessions_.emplace(width, open_session(device_, model_, options_.run, {{input_, shape}}, pool_))
                  .first;
    return found->second;
  }

  const Device& device_;
  const Options& options_;
  MemoryPool pool_;  // the strips are read one after the other
  Model model_;
  std::string input_;
  std::vector<std::string> characters_;
  std::map<int, Session> sessions_;  // by the strip's width
};

// The photo with a box around each line and, so that no letter is covered, the lines' numbers in a margin.
io::Image marked(const io::Image& photo, const std::vector<TextLine>& lines) {
  constexpr int kHeight = 11, kGap = 3;
  const int column = text_width(std::to_string(lines.size()), 1) + 2 + kGap;
  struct Badge {
    int column, top;
  };
  std::vector<Badge> badges;
  int columns = 0;
  for (const TextLine& line : lines) {
    const auto middle = static_cast<int>((line.corners[0].y + line.corners[3].y) / 2);
    Badge badge{0, std::clamp(middle - kHeight / 2, 0, std::max(photo.height - kHeight, 0))};
    // Lines beside each other have numbers beside each other.
    while (std::ranges::any_of(badges, [&](const Badge& other) {
      return other.column == badge.column && std::abs(other.top - badge.top) < kHeight;
    }))
      ++badge.column;
    columns = std::max(columns, badge.column + 1);
    badges.push_back(badge);
  }
  const int margin = columns * column + (columns > 0 ? kGap : 0);
  io::Image image = io::make_image(photo.width + margin, photo.height);
  fill_rectangle(image, 0, 0, margin - 1, photo.height - 1, {255, 255, 255});
  for (int y = 0; y < photo.height; ++y)
    std::copy_n(photo.pixel(0, y), std::size_t{3} * static_cast<std::size_t>(photo.width),
                image.pixel(margin, y));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto corner = [&](std::size_t c) {
      return Point{lines[i].corners[c % 4].x + static_cast<float>(margin), lines[i].corners[c % 4].y};
    };
    for (std::size_t c = 0; c < 4; ++c) draw_line(image, corner(c), corner(c + 1), {255, 32, 96}, 1.5f);
    draw_caption(image, kGap + badges[i].column * column, badges[i].top, std::to_string(i + 1),
                 {255, 255, 255}, {200, 16, 64}, 1);
  }
  return image;
}

void read_text(const Options& options) {
  const io::Image photo = load_photo(options.run);
  const Device device = open_device(options.run);
  const std::vector<TextLine> lines = detect(device, options, photo);
  nlohmann::ordered_json& list = field(options.run, "lines") = nlohmann::ordered_json::array();
  say(options.run, "%zu line%s of text found\n", lines.size(), lines.size() == 1 ? "" : "s");
  Reader reader(device, options);
  std::vector<TextLine> found;
  for (const TextLine& line : lines) {
    const ReadText read = reader.read(photo, line);
    if (read.text.empty() || read.confidence < options.confidence) continue;
    found.push_back(line);
    say(options.run, "%3zu  %.2f  %s\n", found.size(), read.confidence, read.text.c_str());
    list.push_back({{"text", read.text},
                    {"confidence", read.confidence},
                    {"corners", to_json(std::vector<Point>(line.corners.begin(), line.corners.end()))}});
  }
  write_photo(marked(photo, found), options.run);
}

}  // namespace
}  // namespace vellum::samples

int main(int argc, char** argv) {
  using namespace vellum::samples;
  Options options;
  CLI::App app(
      "Reads the text in a photo with PP-OCR, prints it, and marks its lines in a copy of the photo.", "ocr");
  app.add_option("detector", options.detector, "PP-OCR's detection network as ONNX")->required();
  app.add_option("reader", options.reader, "PP-OCR's recognition network as ONNX")->required();
  app.add_option("characters", options.characters, "the recognition network's characters, one a line")
      ->required();
  add_photo_options(app, options.run, "text.png");
  app.add_option("--side", options.side, "longer side, in pixels, of the photo that the detector looks at")
      ->check(CLI::Range(32, 4096))
      ->capture_default_str();
  add_fraction(app, "--threshold", options.thresholds.line, "least score of a line, 0..1");
  add_fraction(app, "--confidence", options.confidence, "least confidence of its text, 0..1");
  return run_sample(app, argc, argv, options.run, [&] { read_text(options); });
}

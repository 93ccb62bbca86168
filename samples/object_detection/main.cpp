// Names and boxes the things in a photo with SSD-MobileNetV2 or a detector of PicoDet's kind, on Vellum's
// public API alone.
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
#include "io/files.hpp"
#include "io/photo.hpp"
#include "object_detection/gfl.hpp"
#include "object_detection/ssd.hpp"

namespace vellum::samples {
namespace {

struct Options {
  std::string model;
  std::string labels;
  float threshold = 0.5f;
  float overlap = 0.5f;
  RunOptions run;
};

// Red, green and blue in -1..1, the photo stretched to the square.
FrameInput ssd_frame(const io::Image& photo, int side) {
  FrameInput frame = io::photo_frame(photo, 127.5f, 1 / 127.5f);
  const auto length = static_cast<double>(side);
  frame.transform = FrameTransform::stretch(io::size_of(photo), {length, length});
  return frame;
}

// Told apart by their shapes, [1, anchors, numbers], and not by names that a converter chose.
std::span<const float> output_of(const std::map<std::string, Tensor>& outputs, std::size_t anchors,
                                 std::size_t numbers) {
  const Shape shape{1, static_cast<int64_t>(anchors), static_cast<int64_t>(numbers)};
  for (const auto& [name, tensor] : outputs)
    if (tensor.shape() == shape) return tensor.as<float>();
  throw Error(ErrorCode::invalid_argument,
              "the model is no SSD with these labels: it has no output of shape " + to_string(shape));
}

void print_and_draw(const std::vector<Object>& objects, const std::vector<std::string>& labels,
                    const RunOptions& options, io::Image& image) {
  // Bright colours with a dark edge are seen on any photo.
  static constexpr Color colors[] = {
      {0, 230, 64}, {255, 64, 128}, {0, 192, 255}, {255, 208, 0}, {208, 128, 255}};
  static constexpr Color dark{16, 16, 24};
  const int mark = std::max(3, std::min(image.width, image.height) / 120);
  const int scale = std::max(2, image.height / 240), caption_height = 11 * scale;
  const auto pixel = [](float fraction, int size) {
    return static_cast<int>(std::lround(std::clamp(fraction, 0.0f, 1.0f) * static_cast<float>(size - 1)));
  };
  nlohmann::ordered_json& list = field(options, "objects") = nlohmann::ordered_json::array();
  say(options, "%zu object%s found\n", objects.size(), objects.size() == 1 ? "" : "s");
  for (const Object& object : objects) {
    const int left = pixel(object.box.top_left.x, image.width),
              top = pixel(object.box.top_left.y, image.height);
    const int right = pixel(object.box.bottom_right.x, image.width),
              bottom = pixel(object.box.bottom_right.y, image.height);
    const std::string& label = labels[object.label];
    say(options, "  %-16s score %.4f, box x %d..%d, y %d..%d\n", label.c_str(), object.score, left, right,
        top, bottom);
    list.push_back({{"label", label}, {"score", object.score}, {"box", {left, top, right, bottom}}});
    const Color color = colors[object.label % std::size(colors)];
    draw_rectangle(image, left - 1, top - 1, right + 1, bottom + 1, dark, mark + 2);
    draw_rectangle(image, left, top, right, bottom, color, mark);
    char score[16];
    std::snprintf(score, sizeof score, " %.0f%%", 100 * object.score);
    // Above the box, where it covers nothing of the thing.
    draw_caption(image, left, top >= caption_height ? top - caption_height : top, label + score, dark, color,
                 scale);
  }
}

std::vector<Object> detect_with_ssd(const Model& model, const io::Image& image, std::size_t labels,
                                    const Options& options) {
  const int side = square_input_side(model, 3, "SSD");
  const std::string input = model.inputs()[0].name;
  const Device device = open_device(options.run);
  Session session = open_session(device, with_frames(model, input, ssd_frame(image, side)), options.run);
  const std::map<std::string, Tensor> outputs = session.run({{input, io::photo_bytes(image)}});
  print_reuse_table(session, options.run);
  const std::vector<Anchor> anchors = ssd_anchors(side);
  return decode_ssd(output_of(outputs, anchors.size(), 4), output_of(outputs, anchors.size(), labels),
                    anchors, options.threshold);
}

// Whether the only input is [1, 3, height, width], as that of PicoDet; SSD's channels come last.
bool has_channels_first(const Model& model) {
  const std::vector<TensorInfo>& inputs = model.inputs();
  return inputs.size() == 1 && inputs[0].dtype == DType::f32 && inputs[0].shape.size() == 4 &&
         inputs[0].shape[1] == 3 && is_known(inputs[0].shape);
}

// The photo stretched to the input, with ImageNet's mean and deviation.
FrameInput gfl_frame(const io::Image& photo, int height, int width) {
  static constexpr float mean[] = {0.485f, 0.456f, 0.406f}, deviation[] = {0.229f, 0.224f, 0.225f};
  FrameInput frame = io::photo_frame(photo);
  for (std::size_t channel = 0; channel < 3; ++channel) {
    frame.mean[channel] = 255 * mean[channel];
    frame.scale[channel] = 1 / (255 * deviation[channel]);
  }
  frame.transform =
      FrameTransform::stretch(io::size_of(photo), {static_cast<double>(width), static_cast<double>(height)});
  return frame;
}

std::vector<Object> detect_with_gfl(const Model& model, const io::Image& image, std::size_t labels,
                                    const Options& options) {
  const TensorInfo& input = model.inputs()[0];
  const auto height = static_cast<int>(input.shape[2]), width = static_cast<int>(input.shape[3]);
  const Device device = open_device(options.run);
  Session session =
      open_session(device, with_frames(model, input.name, gfl_frame(image, height, width)), options.run);
  const std::map<std::string, Tensor> outputs = session.run({{input.name, io::photo_bytes(image)}});
  print_reuse_table(session, options.run);
  std::vector<Object> objects;
  for (const GflGrid& grid : find_gfl_grids(outputs, height, width, labels)) {
    const std::vector<Object> found = decode_gfl(grid, labels, options.threshold);
    objects.insert(objects.end(), found.begin(), found.end());
  }
  return objects;
}

void detect_objects(const Options& options) {
  io::Image image = load_photo(options.run);
  const std::vector<std::string> labels = io::read_lines(options.labels);
  const Model model = load_model(options.model);
  std::vector<Object> objects = has_channels_first(model)
                                    ? detect_with_gfl(model, image, labels.size(), options)
                                    : detect_with_ssd(model, image, labels.size(), options);
  print_and_draw(suppress_overlapping(std::move(objects), options.overlap), labels, options.run, image);
  write_photo(image, options.run);
}

}  // namespace
}  // namespace vellum::samples

int main(int argc, char** argv) {
  using namespace vellum::samples;
  Options options;
  CLI::App app("Names the things in a photo with SSD-MobileNetV2 or PicoDet and marks them in a copy of it.",
               "object_detection");
  app.add_option("model", options.model,
                 "SSD-MobileNetV2 as TFLite, or PicoDet as ONNX without its last layers")
      ->required();
  app.add_option("labels", options.labels,
                 "text file with one label a line; SSD's first stands for no object")
      ->required();
  add_photo_options(app, options.run, "objects.png");
  add_fraction(app, "--threshold", options.threshold, "least score of an object, 0..1");
  add_fraction(app, "--overlap", options.overlap,
               "overlap (intersection over union) from which the better of two boxes stands alone");
  return run_sample(app, argc, argv, options.run, [&] { detect_objects(options); });
}

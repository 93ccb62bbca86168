// Names what a photo shows with any image classifier, on Vellum's public API alone.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/sample.hpp"
#include "common/text.hpp"
#include "io/files.hpp"
#include "io/image.hpp"
#include "io/labels.hpp"
#include "io/photo.hpp"
#include "vellum/vellum.hpp"

namespace vellum::samples {
namespace {

struct Options {
  std::string model;
  std::string labels;
  // Those of ImageNet, with which torchvision's networks are trained; for values in 0..1.
  std::vector<float> mean{0.485f, 0.456f, 0.406f};
  std::vector<float> deviation{0.229f, 0.224f, 0.225f};
  int side = 224;
  std::size_t top = 5;
  RunOptions run;
};

// The network's input: a square image, channels first (ONNX) or last (TFLite).
struct InputLayout {
  int side = 0;
  bool channels_first = true;

  Shape shape() const { return channels_first ? Shape{1, 3, side, side} : Shape{1, side, side, 3}; }
};

InputLayout input_layout(const Model& model, int side_if_open) {
  const std::vector<TensorInfo>& inputs = model.inputs();
  if (inputs.size() == 1 && inputs[0].shape.size() == 4 && inputs[0].dtype == DType::f32) {
    const Shape& shape = inputs[0].shape;
    const bool first = shape[1] == 3;
    const int64_t height = first ? shape[2] : shape[1], width = first ? shape[3] : shape[2];
    if ((first || shape[3] == 3) && height == width)
      return {height > 0 ? static_cast<int>(height) : side_if_open, first};
  }
  throw Error(ErrorCode::invalid_argument,
              "the model is no image classifier: its input is not float32 [1, 3, side, side] or "
              "[1, side, side, 3]");
}

// The middle square of the photo.
FrameInput classifier_frame(const io::Image& photo, const InputLayout& layout, const Options& options) {
  FrameInput frame = io::photo_frame(photo);
  for (std::size_t channel = 0; channel < 3; ++channel) {
    frame.mean[channel] = 255 * options.mean[channel];
    frame.scale[channel] = 1 / (255 * options.deviation[channel]);
  }
  const auto side = static_cast<double>(layout.side);
  frame.transform = FrameTransform::center_crop(io::size_of(photo), {side, side});
  frame.network_shape = layout.shape();
  return frame;
}

// Any other network has scores for positions, or none at all.
void require_classifier(const Model& model) {
  const std::vector<TensorInfo>& outputs = model.outputs();
  if (outputs.size() == 1 && io::is_list_of_scores(outputs[0].shape)) return;
  throw Error(ErrorCode::invalid_argument,
              "the model is no image classifier: " +
                  (outputs.size() == 1
                       ? "its output is " + to_string(outputs[0].shape) + ", not one list of scores"
                       : "it has " + std::to_string(outputs.size()) + " outputs, not one list of scores"));
}

void print_and_draw(const std::vector<io::ClassScore>& classes, const std::vector<std::string>& labels,
                    const RunOptions& options, io::Image& image) {
  nlohmann::ordered_json& list = field(options, "classes") = nlohmann::ordered_json::array();
  const int scale = std::max(1, image.height / 240);
  int top = 2 * scale;
  for (const io::ClassScore& entry : classes) {
    const std::string name =
        entry.index < labels.size() ? labels[entry.index] : "class " + std::to_string(entry.index);
    char line[32];
    std::snprintf(line, sizeof line, "%5.1f%%  ", 100 * entry.probability);
    say(options, "  %s%s\n", line, name.c_str());
    list.push_back({{"index", entry.index}, {"label", name}, {"probability", entry.probability}});
    draw_caption(image, 2 * scale, top, line + name, {255, 255, 255}, {24, 24, 32}, scale);
    top += 12 * scale;
  }
}

void classify(const Options& options) {
  io::Image image = load_photo(options.run);
  const std::vector<std::string> labels =
      options.labels.empty() ? std::vector<std::string>{} : io::read_lines(options.labels);
  const Model model = load_model(options.model);
  const InputLayout layout = input_layout(model, options.side);
  const std::string input = model.inputs()[0].name;
  const Model framed = with_frames(model, input, classifier_frame(image, layout, options));
  require_classifier(framed);
  const Device device = open_device(options.run);
  Session session = open_session(device, framed, options.run);
  const std::map<std::string, Tensor> outputs = session.run({{input, io::photo_bytes(image)}});
  const std::span<const float> scores = outputs.at(model.outputs().front().name).as<float>();
  if (!labels.empty() && labels.size() != scores.size())
    std::fprintf(stderr, "warning: %s has %zu labels; the network has %zu classes\n", options.labels.c_str(),
                 labels.size(), scores.size());
  print_and_draw(io::best_classes(scores, options.top), labels, options.run, image);
  print_reuse_table(session, options.run);
  write_photo(image, options.run);
}

}  // namespace
}  // namespace vellum::samples

int main(int argc, char** argv) {
  using namespace vellum::samples;
  Options options;
  CLI::App app(
      "Names what the middle square of a photo shows with an image classifier, and writes it on a copy of "
      "the photo.",
      "classify");
  app.add_option("model", options.model, "a classifier of [1, 3, side, side] or [1, side, side, 3]")
      ->required();
  add_photo_options(app, options.run, "classified.png");
  app.add_option("-l,--labels", options.labels, "text file with one label a line, the first for class 0");
  app.add_option("--top", options.top, "how many classes to name")
      ->check(CLI::Range(1u, 1u << 20))
      ->capture_default_str();
  app.add_option("--mean", options.mean, "taken from red, green and blue in 0..1 (default: ImageNet's)")
      ->expected(3);
  app.add_option("--deviation", options.deviation, "what the difference is divided by (default: ImageNet's)")
      ->expected(3)
      ->check(CLI::Range(1u, 1u << 20));
  app.add_option("--side", options.side, "side of the input where the model leaves it open")
      ->check(CLI::Range(1u, 1u << 20))
      ->capture_default_str();
  return run_sample(app, argc, argv, options.run, [&] { classify(options); });
}

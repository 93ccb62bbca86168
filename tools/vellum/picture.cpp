#include "picture.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "deep_picture.hpp"
#include "inputs.hpp"
#include "io/files.hpp"
#include "io/photo.hpp"
#include "io/picture_file.hpp"
#include "io/picture_format.hpp"
#include "output.hpp"
#include "usage/wrong_usage.hpp"

namespace vellum::cli {
namespace {

// Mean and deviation of values in 0..1: red, green, blue and alpha, which ImageNet's photos lack.
struct Normalisation {
  std::array<float, 4> mean{0, 0, 0, 0}, deviation{1, 1, 1, 1};
};

Normalisation normalisation(const std::string& values) {
  constexpr float byte = 1 / 255.0f;
  if (values == "imagenet") return {{0.485f, 0.456f, 0.406f, 0}, {0.229f, 0.224f, 0.225f, 1}};
  if (values == "signed") return {{0.5f, 0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f, 0.5f}};
  if (values == "bytes") return {{0, 0, 0, 0}, {byte, byte, byte, byte}};
  return {};
}

void set_values(FrameInput& frame, DType dtype, bool classifier, const PictureOptions& options) {
  const bool floats = is_float(dtype);
  const std::string by_model = !floats ? "bytes" : classifier ? "imagenet" : "unit";
  Normalisation values = normalisation(options.values.empty() ? by_model : options.values);
  if (!options.mean.empty()) std::copy_n(options.mean.begin(), 3, values.mean.begin());
  if (!options.deviation.empty()) std::copy_n(options.deviation.begin(), 3, values.deviation.begin());
  const bool given = !options.values.empty() || !options.mean.empty() || !options.deviation.empty();
  for (size_t c = 0; c < 4; ++c) {
    frame.mean[c] = 255 * values.mean[c];
    frame.scale[c] = 1 / (255 * values.deviation[c]);
    if (dtype == DType::i8 && !given) frame.mean[c] = 128;  // 0..255 as -128..127
  }
  frame.bgr = options.bgr;
}

FrameTransform fitted(FrameSize photo, FrameSize network, const std::string& fit) {
  if (fit == "stretch") return FrameTransform::stretch(photo, network);
  if (fit == "crop") return FrameTransform::center_crop(photo, network);
  return FrameTransform::letterbox(photo, network);
}

// Of the input [1, C, H, W] or [1, H, W, C]; with_frames() checks the rest.
bool channels_come_first(const Shape& shape) { return shape[1] == 1 || shape[1] == 3 || shape[1] == 4; }

FrameSize network_size(const TensorInfo& input, const Shape& shape) {
  if (shape.size() != 4 || !is_known(shape))
    throw Error(ErrorCode::invalid_argument,
                "input '" + input.name + "' of " + to_string(shape) + " takes no picture" +
                    (is_known(shape) ? ": it has not four dimensions"
                                     : "; give its shape, such as --shape " + input.name + "=1x3x224x224"));
  const bool first = channels_come_first(shape);
  return {static_cast<double>(shape[first ? 3 : 2]), static_cast<double>(shape[first ? 2 : 1])};
}

Shape shape_of(const TensorInfo& input, InputShapes& shapes) {
  Shape shape = input.shape;
  if (const auto given = find_shape(shapes, input); given != shapes.end()) {
    shape = given->second;
    shapes.erase(given);
  }
  if (!shape.empty() && shape[0] == kUnknownDim) shape[0] = 1;
  return shape;
}

}  // namespace

void add_picture_options(CLI::App& command, PictureOptions& options) {
  command
      .add_option("--fit", options.fit,
                  "how a picture fills the input (default: crop for classifiers, letterbox for others)")
      ->check(CLI::IsMember({"crop", "letterbox", "stretch"}));
  command
      .add_option(
          "--values", options.values,
          "the values that the input expects: 0..255, 0..1, -1..1 or ImageNet's mean and deviation (default: "
          "bytes for integers, imagenet for classifiers, unit for others)")
      ->check(CLI::IsMember({"bytes", "unit", "signed", "imagenet"}));
  command
      .add_option("--mean", options.mean,
                  "subtracted from red, green and blue of a picture in 0..1; replaces --values'")
      ->expected(3);
  command.add_option("--deviation", options.deviation, "divisor after --mean; replaces --values'")
      ->expected(3)
      ->check(more_than_zero());
  command.add_flag("--bgr", options.bgr, "the input reads blue, green, red");
  command.add_option("--labels", options.labels, "text file with one label a line, the first for class 0");
  command.add_option("--top", options.top, "how many classes of a classifier to print")
      ->check(more_than_zero())
      ->capture_default_str();
}

bool is_classifier(const Model& model) {
  const std::vector<TensorInfo>& outputs = model.outputs();
  return outputs.size() == 1 && is_float(outputs[0].dtype) && io::is_list_of_scores(outputs[0].shape);
}

namespace {

// How the device, or the CPU, makes the input of a picture.
struct PictureFrame {
  FrameInput frame;
  bool channels_first = false, classifier = false;
};

PictureFrame frame_for(const Model& model, const TensorInfo& input, const io::Picture& picture,
                       InputShapes& shapes, const PictureOptions& options) {
  const Shape shape = shape_of(input, shapes);
  const FrameSize size = network_size(input, shape);
  PictureFrame result{io::picture_frame(picture), channels_come_first(shape)};
  result.frame.network_shape = shape;
  // The outputs of a model with open shapes are known only now.
  result.classifier = is_classifier(with_frames(model, input.name, result.frame));
  set_values(result.frame, input.dtype, result.classifier, options);
  const std::string fit = !options.fit.empty() ? options.fit : result.classifier ? "crop" : "letterbox";
  const FrameSize photo{static_cast<double>(picture.width), static_cast<double>(picture.height)};
  result.frame.transform = fitted(photo, size, fit);
  return result;
}

}  // namespace

void add_picture(PictureInputs& result, const std::string& name, const std::string& file, io::Picture picture,
                 InputShapes& shapes, const PictureOptions& options) {
  if (result.inputs.contains(name))
    throw Error(ErrorCode::invalid_argument, "input '" + name + "' is given twice");
  const TensorInfo input = *std::ranges::find(result.model.inputs(), name, &TensorInfo::name);
  const auto [frame, first, classifier] = frame_for(result.model, input, picture, shapes, options);
  if (picture.has_alpha && frame.network_shape[first ? 1 : 3] != 4)
    result.warnings.push_back(file + ": the network takes no alpha; its colours are read as if opaque");
  if (picture.is_deep() && is_float(input.dtype)) {
    result.inputs.emplace(name, cast(deep_picture(picture, frame, first), input.dtype));
    result.names_classes = classifier;
    return;
  }
  picture = io::with_bytes(std::move(picture));
  result.model = with_frames(result.model, name, frame);
  result.inputs.emplace(name, io::picture_bytes(picture));
  result.names_classes = is_classifier(result.model);
}

PictureInputs read_pictures(const Model& model, std::vector<std::string>& arguments, InputShapes& shapes,
                            const PictureOptions& options) {
  PictureInputs result{model, {}, {}};
  std::vector<std::string> others;
  for (const std::string& argument : arguments) {
    const auto [name, file] = split_input(model, argument);
    if (io::picture_format(io::FileName(file)).empty()) {
      others.push_back(argument);
      continue;
    }
    add_picture(result, name, file, io::load_picture(file), shapes, options);
  }
  arguments = std::move(others);
  return result;
}

Tensor picture_values(const Model& model, const std::string& name, const std::string& file,
                      InputShapes shapes, const PictureOptions& options) {
  const TensorInfo input = *std::ranges::find(model.inputs(), name, &TensorInfo::name);
  io::Picture picture = io::load_picture(file);
  const PictureFrame framed = frame_for(model, input, picture, shapes, options);
  for (const uint8_t byte : picture.bytes) picture.words.push_back(static_cast<uint16_t>(byte * 257));
  return cast(deep_picture(picture, framed.frame, framed.channels_first), input.dtype);
}

std::vector<NamedClass> best_classes(const Tensor& scores, const PictureOptions& options,
                                     std::vector<std::string>& warnings) {
  std::vector<std::string> labels;
  if (!options.labels.empty()) labels = io::read_lines(options.labels);
  const auto count = static_cast<std::size_t>(element_count(scores.shape()));
  if (!labels.empty() && labels.size() != count)
    warnings.push_back(options.labels + " has " + std::to_string(labels.size()) +
                       " labels; the network has " + std::to_string(count) + " classes");
  std::vector<NamedClass> classes;
  for (const io::ClassScore& score : io::best_classes(scores.to_floats(), options.top))
    classes.push_back({score, score.index < labels.size() ? one_line(labels[score.index])
                                                          : "class " + std::to_string(score.index)});
  return classes;
}

}  // namespace vellum::cli

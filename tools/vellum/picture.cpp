#include "picture.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fstream>

#include "common/files.hpp"
#include "common/photo.hpp"
#include "inputs.hpp"
#include "output.hpp"

namespace vellum::cli {
namespace {

// By the first bytes: PNG's signature, or the markers that a JPEG begins with.
bool is_picture(const std::string& file) {
  constexpr std::array<unsigned char, 4> png{0x89, 'P', 'N', 'G'};
  constexpr std::array<unsigned char, 3> jpeg{0xff, 0xd8, 0xff};
  std::array<char, 4> bytes{};
  std::ifstream stream(samples::FileName(file).path(), std::ios::binary);
  if (!stream.read(bytes.data(), bytes.size())) return false;
  const auto begins_with = [&](const auto& magic) {
    return std::equal(magic.begin(), magic.end(), bytes.begin(),
                      [](unsigned char want, char got) { return want == static_cast<unsigned char>(got); });
  };
  return begins_with(png) || begins_with(jpeg);
}

bool is_list(const Shape& shape) {
  return is_known(shape) && element_count(shape) > 1 &&
         std::ranges::count(shape, 1) + 1 == static_cast<int64_t>(shape.size());
}

// Mean and deviation of values in 0..1.
struct Normalisation {
  std::array<float, 3> mean{0, 0, 0}, deviation{1, 1, 1};
};

Normalisation normalisation(const std::string& values) {
  if (values == "imagenet") return {{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};
  if (values == "signed") return {{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}};
  if (values == "bytes") return {{0, 0, 0}, {1 / 255.0f, 1 / 255.0f, 1 / 255.0f}};
  return {};
}

void set_values(FrameInput& frame, DType dtype, bool classifier, const PictureOptions& options) {
  const bool floats = is_float(dtype);
  const std::string by_model = !floats ? "bytes" : classifier ? "imagenet" : "unit";
  Normalisation values = normalisation(options.values.empty() ? by_model : options.values);
  if (!options.mean.empty()) std::copy_n(options.mean.begin(), 3, values.mean.begin());
  if (!options.deviation.empty()) std::copy_n(options.deviation.begin(), 3, values.deviation.begin());
  const bool given = !options.values.empty() || !options.mean.empty() || !options.deviation.empty();
  for (size_t c = 0; c < 3; ++c) {
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

// Height and width are the last two dimensions, or the two before the channels; with_frames() checks the
// rest.
FrameSize network_size(const TensorInfo& input, const Shape& shape) {
  if (shape.size() != 4 || !is_known(shape))
    throw Error(ErrorCode::invalid_argument,
                "input '" + input.name + "' of " + to_string(shape) + " takes no picture" +
                    (is_known(shape) ? ": it has not four dimensions"
                                     : "; give its shape, such as --shape " + input.name + "=1x3x224x224"));
  const bool first = shape[1] == 1 || shape[1] == 3 || shape[1] == 4;
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
                  "subtracted from the channels of a picture in 0..1; replaces --values'")
      ->expected(3);
  command.add_option("--deviation", options.deviation, "divisor after --mean; replaces --values'")
      ->expected(3)
      ->check(CLI::PositiveNumber);
  command.add_flag("--bgr", options.bgr, "the input reads blue, green, red");
  command.add_option("--labels", options.labels, "text file with one label a line, the first for class 0");
  command.add_option("--top", options.top, "how many classes of a classifier to print")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

bool is_classifier(const Model& model) {
  const std::vector<TensorInfo>& outputs = model.outputs();
  if (outputs.size() != 1 || !is_float(outputs[0].dtype)) return false;
  Shape shape = outputs[0].shape;
  if (!shape.empty() && shape[0] == kUnknownDim) shape[0] = 1;
  return is_list(shape);
}

PictureInputs read_pictures(const Model& model, std::vector<std::string>& arguments, InputShapes& shapes,
                            const PictureOptions& options) {
  PictureInputs result{model, {}};
  std::vector<std::string> others;
  for (const std::string& argument : arguments) {
    const auto [name, file] = split_input(model, argument);
    if (!is_picture(file)) {
      others.push_back(argument);
      continue;
    }
    if (result.inputs.contains(name))
      throw Error(ErrorCode::invalid_argument, "input '" + name + "' is given twice");
    const TensorInfo& input = *std::ranges::find(model.inputs(), name, &TensorInfo::name);
    const samples::Image photo = samples::load_image(file);
    const Shape shape = shape_of(input, shapes);
    const FrameSize size = network_size(input, shape);
    FrameInput frame = samples::photo_frame(photo);
    frame.network_shape = shape;
    // The outputs of a model with open shapes are known only now.
    const bool classifier = is_classifier(with_frames(result.model, name, frame));
    set_values(frame, input.dtype, classifier, options);
    const std::string fit = !options.fit.empty() ? options.fit : classifier ? "crop" : "letterbox";
    frame.transform = fitted(samples::size_of(photo), size, fit);
    result.model = with_frames(result.model, name, frame);
    result.inputs.emplace(name, samples::photo_bytes(photo));
  }
  arguments = std::move(others);
  return result;
}

std::vector<NamedClass> best_classes(const Tensor& scores, const PictureOptions& options) {
  std::vector<std::string> labels;
  if (!options.labels.empty()) labels = samples::read_lines(options.labels);
  std::vector<NamedClass> classes;
  for (const samples::ClassScore& score : samples::best_classes(scores.to_floats(), options.top))
    classes.push_back({score, score.index < labels.size() ? one_line(labels[score.index])
                                                          : "class " + std::to_string(score.index)});
  return classes;
}

}  // namespace vellum::cli

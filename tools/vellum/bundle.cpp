// vellum bundle: a model with its compiled shaders and prepacked weights, in one file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "io/file_name.hpp"
#include "options.hpp"
#include "output.hpp"
#include "vellum/pack.hpp"

namespace vellum::cli {
namespace {

constexpr FrameFormat frame_formats[] = {FrameFormat::rgba8, FrameFormat::bgra8, FrameFormat::rgb8,
                                         FrameFormat::grey8, FrameFormat::nv12,  FrameFormat::nv21,
                                         FrameFormat::i420};

// As PictureColors.
constexpr std::string_view picture_colors[] = {"ramp", "steps", "classes", "rgb"};

struct BundleArguments {
  Options options;
  std::string model, file, caps;
  std::vector<std::string> frames, pictures;
  bool images = false;
};

// "image=nv12,area,bgr,border": an input, a format, and what else chooses shaders.
PackFrame parse_frame(const std::string& text) {
  const auto refuse = [&] {
    return Error(ErrorCode::invalid_argument,
                 "--frame " + text +
                     ": not INPUT=FORMAT[,area][,bgr][,border] with a format of rgba8, bgra8, rgb8, grey8, "
                     "nv12, nv21, i420");
  };
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) throw refuse();
  PackFrame frame{text.substr(0, equals), {.width = 64, .height = 64}};  // the size chooses no shader
  std::istringstream words(text.substr(equals + 1));
  std::string word;
  std::getline(words, word, ',');
  const auto* format = std::ranges::find(frame_formats, word, [](FrameFormat each) { return name(each); });
  if (format == std::end(frame_formats)) throw refuse();
  frame.frame.format = *format;
  while (std::getline(words, word, ',')) {
    if (word == "area")
      frame.frame.filter = FrameFilter::area;
    else if (word == "bgr")
      frame.frame.bgr = true;
    else if (word == "border")
      frame.frame.fill.reset();
    else
      throw refuse();
  }
  return frame;
}

// "mask=ramp,nearest,over:image": an output, its colours, and what else chooses shaders.
PackPicture parse_picture(const std::string& text) {
  const auto refuse = [&] {
    return Error(ErrorCode::invalid_argument,
                 "--picture " + text +
                     ": not OUTPUT=COLOURS[,nearest][,over:INPUT] with colours of ramp, steps, classes, rgb");
  };
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) throw refuse();
  PackPicture picture{text.substr(0, equals), {}};
  std::istringstream words(text.substr(equals + 1));
  std::string word;
  std::getline(words, word, ',');
  const auto* colors = std::ranges::find(picture_colors, word);
  if (colors == std::end(picture_colors)) throw refuse();
  picture.picture.colors = static_cast<PictureColors>(colors - picture_colors);
  if (picture.picture.colors == PictureColors::classes) picture.picture.palette = {{}};
  while (std::getline(words, word, ',')) {
    if (word == "nearest")
      picture.picture.filter = PictureFilter::nearest;
    else if (word.starts_with("over:") && word.size() > 5)
      picture.picture.over = word.substr(5);
    else
      throw refuse();
  }
  return picture;
}

void bundle(const BundleArguments& arguments) {
  const Caps caps =
      arguments.caps.empty() ? Caps::of(OpenedDevice(arguments.options).device()) : read_caps(arguments.caps);
  std::vector<PackFrame> frames;
  std::ranges::transform(arguments.frames, std::back_inserter(frames), parse_frame);
  std::vector<PackPicture> pictures;
  std::ranges::transform(arguments.pictures, std::back_inserter(pictures), parse_picture);
  const PackSummary made =
      vellum::pack_with_variants(io::FileName(arguments.model).path(), io::FileName(arguments.file).path(),
                                 caps, session_options(arguments.options, arguments.model),
                                 {.frames = frames,
                                  .pictures = pictures,
                                  .images = arguments.images,
                                  .signature = arguments.options.signature});
  if (arguments.options.json)
    return print_json(nlohmann::json{{"file", arguments.file},
                                     {"file_bytes", made.file_bytes},
                                     {"shaders", made.shaders},
                                     {"weights", made.weights},
                                     {"weights_bytes", made.weights_bytes}});
  print(fmt::format("{}: {} bytes; {} shaders, {} prepacked weights of {} bytes\n", arguments.file,
                    grouped(made.file_bytes), made.shaders, made.weights, grouped(made.weights_bytes)));
}

}  // namespace

Command add_bundle(CLI::App& app) {
  auto arguments = std::make_shared<BundleArguments>();
  CLI::App* command = app.add_subcommand(
      "bundle", "Write a model with its compiled shaders and prepacked weights to one file");
  command->alias("pack");
  add_model(*command, arguments->model)->required();
  command->add_option("-o,--output", arguments->file, "the file to write; an existing one is replaced")
      ->required();
  command->add_option(
      "--caps", arguments->caps,
      "android_baseline_2022, or a file of `vellum devices --save-caps`: the device of the bundle, "
      "instead of --device");
  command
      ->add_option("--frame", arguments->frames,
                   "INPUT=FORMAT[,area][,bgr][,border]: also the shaders of an input that takes camera "
                   "frames; a format of "
                   "rgba8, bgra8, rgb8, grey8, nv12, nv21, i420; repeatable")
      ->allow_extra_args(false);
  command
      ->add_option("--picture", arguments->pictures,
                   "OUTPUT=COLOURS[,nearest][,over:INPUT]: also the shaders of a picture that is made of an "
                   "output; colours of ramp, steps, classes, rgb; over a frame of --frame; repeatable")
      ->allow_extra_args(false);
  command->add_flag(
      "--images", arguments->images,
      "also the shaders that read frames of --frame from images of an application, write outputs to "
      "images, and bind buffers with strides");
  add_options(*command, arguments->options, "of sharing memory, see docs/planner.md");
  command->footer(
      "Every command and the library take the file in place of MODEL, on any device and with any options;\n"
      "shaders and weights that it lacks for these are made when a session is created.\n"
      "Example:\n  vellum bundle model.onnx -o model.vellum --precision fp16 && vellum bench model.vellum "
      "--precision fp16");
  return {command, [arguments] { bundle(*arguments); }};
}

}  // namespace vellum::cli

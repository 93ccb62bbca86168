// Puts the person in a photo before another background with MediaPipe's selfie segmentation, on Vellum's
// public API alone.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/draw.hpp"
#include "common/region.hpp"
#include "common/resize.hpp"
#include "common/sample.hpp"
#include "io/photo.hpp"
#include "selfie_segmentation/matte.hpp"

namespace vellum::samples {
namespace {

struct Options {
  std::string model;
  std::string background;
  std::vector<std::uint8_t> color;
  int blur = 12;
  RunOptions run;
};

// The network reads an upright [256, 256] or a landscape [144, 256] picture and puts out one value a pixel.
Shape input_shape(const Model& model) {
  const auto is_image = [](const std::vector<TensorInfo>& tensors, int64_t channels) {
    return tensors.size() == 1 && tensors[0].dtype == DType::f32 && is_known(tensors[0].shape) &&
           tensors[0].shape.size() == 4 && tensors[0].shape[0] == 1 && tensors[0].shape[3] == channels;
  };
  if (!is_image(model.inputs(), 3) || !is_image(model.outputs(), 1)) {
    throw Error(ErrorCode::invalid_argument,
                "the model is no selfie segmentation: it does not make [1, height, width, 1] of "
                "[1, height, width, 3]");
  }
  return model.inputs()[0].shape;
}

Matte find_person(const io::Image& photo, const Options& options) {
  const Model model = load_model(options.model);
  const Shape shape = input_shape(model);
  const Device device = open_device(options.run);
  FrameInput frame = io::photo_frame(photo, 0, 1 / 255.0f);
  const FrameSize network{static_cast<double>(shape[2]), static_cast<double>(shape[1])};
  frame.transform = FrameTransform::stretch(io::size_of(photo), network);
  const std::string input = model.inputs()[0].name;
  Session session = open_session(device, with_frames(model, input, frame), options.run);
  const std::map<std::string, Tensor> outputs = session.run({{input, io::photo_bytes(photo)}});
  print_reuse_table(session, options.run);
  const Tensor& mask = outputs.begin()->second;
  return stretch_mask(mask.as<float>(), static_cast<int>(mask.shape()[2]), static_cast<int>(mask.shape()[1]),
                      photo.width, photo.height);
}

// The picture that the user names, cut to the photo's proportions; or one colour; or the photo, blurred.
io::Image make_background(const io::Image& photo, const Options& options) {
  if (!options.background.empty()) {
    const io::Image part = center_part(io::load_image(options.background), photo.width, photo.height);
    io::Image background = io::make_image(photo.width, photo.height);
    const std::vector<float> values = resize(part, photo.width, photo.height);
    std::transform(values.begin(), values.end(), background.rgb.begin(),
                   [](float value) { return static_cast<std::uint8_t>(std::lround(value)); });
    return background;
  }
  if (options.color.size() == 3) {
    io::Image background = io::make_image(photo.width, photo.height);
    fill_rectangle(background, 0, 0, photo.width - 1, photo.height - 1,
                   {options.color[0], options.color[1], options.color[2]});
    return background;
  }
  return blur(photo, options.blur);
}

void replace(const Options& options) {
  const io::Image photo = load_photo(options.run);
  const io::Image background = make_background(photo, options);
  const Matte person = find_person(photo, options);
  field(options.run, "person") = person.mean();
  say(options.run, "the person covers %.2f%% of the photo\n", 100 * person.mean());
  write_photo(replace_background(photo, background, person), options.run);
}

}  // namespace
}  // namespace vellum::samples

int main(int argc, char** argv) {
  using namespace vellum::samples;
  Options options;
  CLI::App app("Replaces or blurs what is behind the person in a photo.", "selfie_segmentation");
  app.add_option("model", options.model, "MediaPipe's selfie segmentation as TFLite, either shape")
      ->required();
  add_photo_options(app, options.run, "selfie.png");
  const auto background =
      app.add_option("--background", options.background, "PNG, JPEG or BMP to put behind the person");
  app.add_option("--color", options.color, "or one colour: red, green and blue, 0..255")
      ->expected(3)
      ->excludes(background);
  app.add_option("--blur", options.blur, "or blur the photo by about this many pixels")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  return run_sample(app, argc, argv, options.run, [&] { replace(options); });
}

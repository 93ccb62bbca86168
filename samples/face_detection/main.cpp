// Finds faces in a photo with MediaPipe's BlazeFace, on Vellum's public API alone.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "common/draw.hpp"
#include "common/image.hpp"
#include "common/resize.hpp"
#include "common/reuse_table.hpp"
#include "face_detection/blazeface.hpp"
#include "vellum/vellum.hpp"

namespace vellum::samples {
namespace {

struct Options {
  std::string model;
  std::string photo;
  std::string output = "faces.png";
  std::string cache_folder;
  std::string device;
  float threshold = 0.5f;
  float overlap = 0.3f;
  StorageChoice storage = StorageChoice::automatic;
  bool reuse_table = false;
};

// The side of the square image that the network reads: 128 (front camera) or 256 (back camera).
int input_side(const Model& model) {
  const std::vector<TensorInfo> inputs = model.inputs();
  if (inputs.size() != 1 || inputs[0].shape.size() != 4 || inputs[0].shape[1] != inputs[0].shape[2] ||
      inputs[0].shape[3] != 3 || inputs[0].shape[1] < 1) {
    throw Error(ErrorCode::invalid_argument,
                "the model is no BlazeFace: its input is not [1, side, side, 3]");
  }
  return static_cast<int>(inputs[0].shape[1]);
}

// The network reads red, green and blue in -1..1.
Tensor network_input(const Letterbox& box) {
  std::vector<float> values = box.rgb;
  for (float& value : values) value = value / 127.5f - 1.0f;
  return Tensor::f32({1, box.side, box.side, 3}, values);
}

// The four outputs told apart by their shapes, [1, anchors, 1 or 16], and not by names that a converter
// chose.
BlazeFaceOutputs find_outputs(const std::map<std::string, Tensor>& outputs) {
  const auto find = [&](int64_t anchors, int64_t values) {
    for (const auto& [name, tensor] : outputs) {
      if (tensor.shape() == Shape{1, anchors, values}) return tensor.as<float>();
    }
    throw Error(ErrorCode::invalid_argument, "the model is no BlazeFace: it has no output of shape " +
                                                 to_string(Shape{1, anchors, values}));
  };
  return {find(512, 1), find(384, 1), find(512, 16), find(384, 16)};
}

void print_and_draw(const std::vector<Face>& faces, const Letterbox& box, Image& image) {
  static constexpr const char* keypoint_names[] = {"right eye", "left eye",  "nose tip",
                                                   "mouth",     "right ear", "left ear"};
  const int mark = std::max(2, std::min(image.width, image.height) / 150);
  const auto round = [](float value) { return static_cast<int>(std::lround(value)); };
  std::printf("%zu face%s found\n", faces.size(), faces.size() == 1 ? "" : "s");
  for (const Face& face : faces) {
    const Point top_left = box.to_image(face.top_left);
    const Point bottom_right = box.to_image(face.bottom_right);
    const int left = round(top_left.x), top = round(top_left.y);
    const int right = round(bottom_right.x), bottom = round(bottom_right.y);
    std::printf("  score %.4f, box x %d..%d, y %d..%d\n", face.score, left, right, top, bottom);
    draw_rectangle(image, left, top, right, bottom, {0, 230, 64}, mark);
    for (std::size_t i = 0; i < face.keypoints.size(); ++i) {
      const Point point = box.to_image(face.keypoints[i]);
      std::printf("    %-9s %4d, %4d\n", keypoint_names[i], round(point.x), round(point.y));
      draw_disc(image, round(point.x), round(point.y), mark, {255, 32, 96});
    }
  }
}

void run(const Options& options) {
  Image image = load_image(options.photo);
  const Model model = Model::load(options.model);
  DeviceOptions device_options;
  device_options.device = options.device;
  device_options.cache_folder = options.cache_folder;
  const Device device = Device::open(device_options);
  SessionOptions session_options;
  session_options.storage = options.storage;
  Session session(device, model, session_options);
  std::printf("running on %s\n", device.info().name.c_str());
  for (const std::string& warning : session.warnings())
    std::fprintf(stderr, "warning: %s\n", warning.c_str());

  const Letterbox box = letterbox(image, input_side(model));
  const std::map<std::string, Tensor> outputs = session.run({{model.inputs()[0].name, network_input(box)}});
  const std::vector<Face> found = decode_blazeface(find_outputs(outputs), box.side, options.threshold);
  print_and_draw(merge_overlapping(found, options.overlap), box, image);

  if (options.reuse_table) std::fputs(reuse_table(session.memory()).c_str(), stdout);
  write_png(options.output, image);
  std::printf("annotated photo: %s\n", options.output.c_str());
}

}  // namespace
}  // namespace vellum::samples

int main(int argc, char** argv) {
  vellum::samples::Options options;
  using vellum::StorageChoice;
  const std::map<std::string, StorageChoice> storage_names{{"auto", StorageChoice::automatic},
                                                           {"image2d", StorageChoice::image2d},
                                                           {"image3d", StorageChoice::image3d},
                                                           {"buffer", StorageChoice::buffer}};
  CLI::App app("Finds faces in a photo with MediaPipe's BlazeFace and marks them in a copy of it.");
  app.option_defaults()->take_last();  // so that what follows a script's own arguments wins
  app.add_option("model", options.model, "BlazeFace as ONNX, front (128x128) or back (256x256)")->required();
  app.add_option("photo", options.photo, "PNG or JPEG")->required();
  app.add_option("-o,--output", options.output, "annotated PNG to write")->capture_default_str();
  app.add_option("--threshold", options.threshold, "least score of a face, 0..1")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--overlap", options.overlap,
                 "overlap (intersection over union) from which two boxes are one face")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--device", options.device, "Vulkan device, a number or part of a name (default: the best)");
  app.add_option("--storage", options.storage,
                 "what intermediate tensors live in (default: what suits the device)")
      ->transform(CLI::CheckedTransformer(storage_names).description("{auto, image2d, image3d, buffer}"));
  app.add_option("--cache", options.cache_folder, "folder that keeps compiled shaders for the next start");
  app.add_flag("--reuse-table", options.reuse_table,
               "print which textures carried the tensors, and how many each");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    vellum::samples::run(options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "face_detection: %s\n", error.what());
    return 1;
  }
}

// Face detection on camera frames of 1280 x 720 pixels in NV12, from the bytes of the camera to boxes and a
// picture for the screen: with the pixels' work on the host, and on the device. Both alternate in one run;
// the table has the least and the median of each stage.
//   frame_stages BLAZEFACE.onnx PHOTO [ROUNDS]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/resize.hpp"
#include "face_detection/blazeface.hpp"
#include "io/photo.hpp"
#include "samples/nv12_frame.hpp"
#include "vellum/picture.hpp"

namespace vellum::samples {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWidth = 1280, kHeight = 720;

// The milliseconds of each stage, a value a round; stages in order of first use.
class Stages {
 public:
  void add(const std::string& stage, double milliseconds) {
    if (times_.try_emplace(stage).second) order_.push_back(stage);
    times_[stage].push_back(milliseconds);
  }
  template <typename Work>
  auto time(const std::string& stage, const Work& work) {
    const Clock::time_point before = Clock::now();
    auto result = work();
    add(stage, std::chrono::duration<double, std::milli>(Clock::now() - before).count());
    return result;
  }
  // Rows of a table, and the sum of the medians.
  void print(const char* which) const {
    double least_sum = 0, median_sum = 0;
    for (const std::string& stage : order_) {
      std::vector<double> times = times_.at(stage);
      std::ranges::sort(times);
      std::printf("| %s | %s | %.2f | %.2f |\n", which, stage.c_str(), times.front(),
                  times[times.size() / 2]);
      least_sum += times.front();
      median_sum += times[times.size() / 2];
    }
    std::printf("| %s | **all** | %.2f | %.2f |\n", which, least_sum, median_sum);
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::vector<double>> times_;
};

// The host's work in an application without frames on the device: BT.601 in limited range, pixel by pixel.
io::Image to_rgb(std::span<const uint8_t> nv12) {
  io::Image image = io::make_image(kWidth, kHeight);
  const uint8_t* chroma = nv12.data() + kWidth * kHeight;
  const auto level = [](float value) { return static_cast<uint8_t>(std::clamp(value + 0.5f, 0.0f, 255.0f)); };
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const float luma =
          (nv12[static_cast<size_t>(y) * kWidth + static_cast<size_t>(x)] - 16.0f) * (255.0f / 219);
      const uint8_t* pair = chroma + y / 2 * kWidth + x / 2 * 2;
      const float u = (pair[0] - 128.0f) * (255.0f / 224), v = (pair[1] - 128.0f) * (255.0f / 224);
      uint8_t* rgb = image.pixel(x, y);
      rgb[0] = level(luma + 1.402f * v);
      rgb[1] = level(luma - 0.344136f * u - 0.714136f * v);
      rgb[2] = level(luma + 1.772f * u);
    }
  }
  return image;
}

// Letterboxed to the network's square, in -1..1.
Tensor to_input(const io::Image& image, int side) {
  const int height = side * kHeight / kWidth, top = (side - height) / 2;
  const std::vector<float> resized = resize(image, side, height);
  Tensor input(DType::f32, {1, side, side, 3});
  std::ranges::fill(input.mutable_as<float>(), -1.0f);
  std::ranges::transform(resized, input.mutable_as<float>().begin() + 3 * top * side,
                         [](float value) { return (value - 127.5f) / 127.5f; });
  return input;
}

std::vector<uint8_t> to_rgba(const io::Image& image) {
  std::vector<uint8_t> rgba;
  rgba.reserve(image.rgb.size() / 3 * 4);
  for (size_t i = 0; i < image.rgb.size(); i += 3)
    rgba.insert(rgba.end(), {image.rgb[i], image.rgb[i + 1], image.rgb[i + 2], 255});
  return rgba;
}

// As high as the frame, so that the network finds the face.
io::Image enlarged(const io::Image& photo) {
  io::Image image = io::make_image(photo.width * kHeight / photo.height, kHeight);
  std::ranges::transform(resize(photo, image.width, image.height), image.rgb.begin(),
                         [](float value) { return static_cast<uint8_t>(std::lround(value)); });
  return image;
}

void add_layers(Stages& stages, const Session& session) {
  std::map<std::string, double> sums;
  for (const LayerTime& layer : session.layer_times())
    sums[layer.op == "Frame" || layer.op == "Picture" ? layer.op : "network"] += layer.gpu_ms;
  if (sums.contains("Frame")) stages.add("Frame: colours, resize, normalise (device)", sums["Frame"]);
  stages.add("network (device)", sums["network"]);
  if (sums.contains("Picture")) stages.add("Picture for the screen (device)", sums["Picture"]);
}

std::vector<Face> faces(const std::map<std::string, Tensor>& outputs, int side) {
  return merge_overlapping(decode_blazeface(find_blazeface_outputs(outputs), side, 0.5f), 0.3f);
}

std::map<std::string, Tensor> floats_of(const Session& session) {
  std::map<std::string, Tensor> outputs;
  for (const TensorInfo& info : session.outputs())
    if (info.dtype == DType::f32) outputs.emplace(info.name, session.output(info.name));
  return outputs;
}

void measure(const std::string& file, const std::string& photo, int rounds) {
  const Device device = Device::open();
  const Model model = Model::load(file);
  const std::string input = model.inputs()[0].name;
  const int side = static_cast<int>(model.inputs()[0].shape[1]);
  FrameInput camera{
      .format = FrameFormat::nv12, .width = kWidth, .height = kHeight, .filter = FrameFilter::area};
  const Model framed = with_frames(model, input, blazeface_frame(camera, side));
  const PictureOutput screen{.palette = {{0, 0, 0, 0}}, .over = input, .name = "screen"};
  Session host(device, model, {.profile = true});
  Session on_device(device, with_picture(framed, model.outputs()[0].name, screen), {.profile = true});
  const io::Image seen = enlarged(io::load_image(photo));
  const std::vector<uint8_t> frame = nv12_frame(seen, kWidth, kHeight, (kWidth - seen.width) / 2, 0);

  Stages before, after;
  size_t found_before = 0, found_after = 0;
  for (int round = -1; round < rounds; ++round) {  // the first one, in which drivers compile, does not count
    Stages unused;
    Stages& a = round < 0 ? unused : before;
    Stages& b = round < 0 ? unused : after;
    const io::Image rgb = a.time("NV12 to RGB (host)", [&] { return to_rgb(frame); });
    const Tensor values = a.time("resize, normalise (host)", [&] { return to_input(rgb, side); });
    a.time("upload", [&] { return host.set_input(input, values), 0; });
    host.run();
    add_layers(a, host);
    found_before = a.time("boxes (host)", [&] { return faces(floats_of(host), side); }).size();
    a.time("RGBA for the screen (host)", [&] { return to_rgba(rgb); });

    b.time("upload", [&] { return on_device.set_input(input, std::as_bytes(std::span(frame))), 0; });
    on_device.run();
    add_layers(b, on_device);
    found_after = b.time("boxes (host)", [&] { return faces(floats_of(on_device), side); }).size();
  }
  if (found_before != 1 || found_after != 1) throw Error(ErrorCode::internal, "the face was not found");
  std::printf("%s, %d rounds:\n\n| pixels | stage | least, ms | median, ms |\n| --- | --- | ---: | ---: |\n",
              device.info().name.c_str(), rounds);
  before.print("host");
  after.print("device");
}

}  // namespace
}  // namespace vellum::samples

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: frame_stages BLAZEFACE.onnx PHOTO [ROUNDS]\n");
    return 2;
  }
  try {
    vellum::samples::measure(argv[1], argv[2], argc > 3 ? std::max(1, std::atoi(argv[3])) : 50);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "frame_stages: %s\n", error.what());
    return 1;
  }
}

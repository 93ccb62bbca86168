// vellum tiles: a network over a picture of any size, tile by tile, from one picture file to another.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.hpp"
#include "common/image.hpp"
#include "options.hpp"
#include "output.hpp"
#include "png_writer.hpp"
#include "vellum/large_pictures.hpp"

namespace vellum::cli {
namespace {

struct TilesArguments {
  Options options;
  std::string model, input, output;
  std::string values = "unit";
  int64_t tile = 0;
};

// Where the channels of an image are.
struct Channels {
  int64_t count = 0;
  bool last = false;  // N, H, W, C
};

Channels channels_of(const char* kind, const TensorInfo& info, std::initializer_list<int64_t> allowed) {
  const Shape& shape = info.shape;
  if (shape.size() == 4 && is_float(info.dtype))
    for (const bool last : {false, true})
      for (const int64_t count : allowed)
        if (shape[last ? 3 : 1] == count) return {count, last};
  throw Error(ErrorCode::unsupported, std::string(kind) + " '" + info.name + "' of " + to_string(shape) +
                                          " is no picture of floats with " +
                                          (allowed.size() > 1 ? "one or three channels" : "three channels"));
}

// Values as the network has them for the bytes of a picture: value = byte / divisor - shift.
struct Values {
  float divisor = 255, shift = 0;
};

Values values_of(const std::string& name) {
  if (name == "bytes") return {1, 0};
  if (name == "signed") return {127.5f, 1};
  return {255, 0};
}

// Element (channel, row, column) of a dense region.
size_t place(const Channels& channels, const PictureRegion& region, int64_t c, int64_t y, int64_t x) {
  return static_cast<size_t>(channels.last ? (y * region.width + x) * channels.count + c
                                           : (c * region.height + y) * region.width + x);
}

class Job {
 public:
  Job(const TilesArguments& arguments, const LargePicture& network, const samples::Image& picture)
      : values_(values_of(arguments.values)),
        picture_(picture),
        in_(channels_of("input", network.inputs().at(0), {3})),
        out_(channels_of("output", network.outputs().at(0), {3, 1})),
        width_(network.outputs()[0].shape[out_.last ? 2 : 3]),
        height_(network.outputs()[0].shape[out_.last ? 1 : 2]),
        writer_(arguments.output, static_cast<uint32_t>(width_), static_cast<uint32_t>(height_)) {}

  void read(const PictureRegion& region, std::span<std::byte> values) const {
    auto* to = reinterpret_cast<float*>(values.data());
    for (int64_t y = 0; y < region.height; ++y)
      for (int64_t x = 0; x < region.width; ++x) {
        const uint8_t* pixel =
            picture_.pixel(static_cast<int>(region.left + x), static_cast<int>(region.top + y));
        for (int64_t c = 0; c < 3; ++c)
          to[place(in_, region, c, y, x)] = static_cast<float>(pixel[c]) / values_.divisor - values_.shift;
      }
  }

  // Rows of tiles become rows of the file.
  void write(const PictureRegion& region, std::span<const std::byte> values) {
    const auto* from = reinterpret_cast<const float*>(values.data());
    rows_.resize(static_cast<size_t>(3 * width_ * region.height));
    for (int64_t y = 0; y < region.height; ++y)
      for (int64_t x = 0; x < region.width; ++x)
        for (int64_t c = 0; c < 3; ++c) {
          const float value = from[place(out_, region, std::min(c, out_.count - 1), y, x)];
          const float byte = std::round((value + values_.shift) * values_.divisor);
          // A NaN becomes 0.
          rows_[static_cast<size_t>(3 * (y * width_ + region.left + x) + c)] =
              static_cast<uint8_t>(byte > 0 ? std::min(byte, 255.0f) : 0);
        }
    if (region.left + region.width < width_) return;
    for (int64_t y = 0; y < region.height; ++y)
      writer_.add_row(
          std::span(rows_).subspan(static_cast<size_t>(3 * width_ * y), static_cast<size_t>(3 * width_)));
  }

  void finish() { writer_.finish(); }
  int64_t width() const { return width_; }
  int64_t height() const { return height_; }

 private:
  const Values values_;
  const samples::Image& picture_;
  const Channels in_, out_;
  const int64_t width_, height_;
  PngWriter writer_;
  std::vector<uint8_t> rows_;  // of one row of tiles
};

// The shape of the input for the picture.
Shape shape_for(const TensorInfo& input, const samples::Image& picture) {
  const Channels channels = channels_of("input", input, {3});
  if (channels.last) return {1, picture.height, picture.width, 3};
  return {1, 3, picture.height, picture.width};
}

std::string bar(size_t done, size_t total, double seconds) {
  constexpr size_t kCells = 30;
  const size_t full = total > 0 ? kCells * done / total : 0;
  std::string text = "tiles [" + std::string(full, '#') + std::string(kCells - full, '.') + "] " +
                     std::to_string(done) + "/" + std::to_string(total);
  if (done > 0 && done < total)
    text +=
        ", " +
        std::to_string(std::lround(seconds / static_cast<double>(done) * static_cast<double>(total - done))) +
        " s left";
  return text;
}

void run(const TilesArguments& arguments) {
  const Model model = load_model(arguments.model, arguments.options);
  if (model.inputs().size() != 1 || model.outputs().size() != 1)
    throw Error(ErrorCode::unsupported,
                arguments.model + ": a network of one input and one output is needed");
  const samples::Image picture = samples::load_image(arguments.input);
  LargePictureOptions options;
  options.session = session_options(arguments.options, arguments.model);
  options.session.input_shapes[model.inputs()[0].name] = shape_for(model.inputs()[0], picture);
  options.tile_height = options.tile_width = arguments.tile;

  const OpenedDevice device(arguments.options);
  LargePicture network(device.device(), model, options);
  Job job(arguments, network, picture);
  ProgressLine line;
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  network.run(
      [&](const PictureRegion& region, std::span<std::byte> values) { job.read(region, values); },
      [&](const PictureRegion& region, std::span<const std::byte> values) { job.write(region, values); },
      [&](size_t done, size_t total) {
        line.show(bar(done, total, seconds()));
        return true;
      });
  job.finish();
  device.check_validation();
  const PictureTiles tiles = network.tiles();
  if (arguments.options.json) {
    print_json({{"file", arguments.output},
                {"width", job.width()},
                {"height", job.height()},
                {"tiles", tiles.count()},
                {"tile_height", tiles.height},
                {"tile_width", tiles.width},
                {"memory_budget", options.session.memory_budget},
                {"peak_bytes", network.peak_bytes()},
                {"seconds", seconds()}});
    return;
  }
  print(arguments.output + "  " + std::to_string(job.width()) + "x" + std::to_string(job.height()) + " in " +
        std::to_string(tiles.count()) + " tiles of " + std::to_string(tiles.width) + "x" +
        std::to_string(tiles.height) + "\n");
}

}  // namespace

Command add_tiles(CLI::App& app) {
  auto arguments = std::make_shared<TilesArguments>();
  CLI::App* command = app.add_subcommand("tiles", "Run a network over a picture of any size, tile by tile");
  add_model(*command, arguments->model)->required();
  command->add_option("-i,--input", arguments->input, "the picture, PNG or JPEG")->required();
  command->add_option("-o,--output", arguments->output, "PNG file for the picture that the network makes")
      ->required();
  command
      ->add_option("--tile", arguments->tile,
                   "rows and columns of the input that a tile reads, halo included (default: as many as fit)")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--pixels", arguments->values,
                   "what the network reads and writes for the bytes of a picture: 0..255, 0..1 or -1..1")
      ->check(CLI::IsMember({"bytes", "unit", "signed"}))
      ->capture_default_str();
  add_options(*command, arguments->options,
              "how tensors are assigned to memory: a strategy of docs/planner.md");
  command->footer(
      "For networks of local operators: super-resolution, denoising, segmentation by convolutions alone. The "
      "picture is the\n"
      "same bit for bit for tiles of any size. --memory-budget bounds the device memory.\n"
      "Example:\n  vellum tiles upscale_x3.onnx -i photo.png -o large.png --memory-budget 256MiB");
  return {command, [arguments] { run(*arguments); }};
}

}  // namespace vellum::cli

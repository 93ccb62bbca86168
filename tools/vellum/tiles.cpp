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
#include "io/image.hpp"
#include "io/picture_file.hpp"
#include "options.hpp"
#include "output.hpp"
#include "picture_writer.hpp"
#include "usage/wrong_usage.hpp"
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

Channels channels_of(const char* kind, const TensorInfo& info) {
  const Shape& shape = info.shape;
  if (shape.size() == 4 && is_float(info.dtype))
    for (const bool last : {false, true})
      for (const int64_t count : {3, 1, 4})
        if (shape[last ? 3 : 1] == count) return {count, last};
  throw Error(ErrorCode::unsupported, std::string(kind) + " '" + info.name + "' of " + to_string(shape) +
                                          " is no picture of floats with one, three or four channels");
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

// The network's layers, not the shapes alone, say which dimension is that of the rows.
void check_order(const TensorInfo& info, const Channels& channels, const PictureRegion& region) {
  if (region.rows_axis != (channels.last ? 1u : 2u))
    throw Error(ErrorCode::unsupported,
                "'" + info.name + "' of " + to_string(info.shape) +
                    ": the layers of the network do not read its last dimension as channels");
}

// Channel c of a pixel, in 0..255 with fractions where the file has 16 bits per channel.
float value_at(const io::Picture& picture, size_t pixel, size_t c) {
  if (!picture.is_deep()) return picture.bytes[4 * pixel + c];
  return static_cast<float>(picture.words[4 * pixel + c]) / 257.0f;
}

float value_of(const io::Picture& picture, size_t pixel, size_t c, int64_t channels) {
  if (channels != 1) return value_at(picture, pixel, c);
  return 0.299f * value_at(picture, pixel, 0) + 0.587f * value_at(picture, pixel, 1) +
         0.114f * value_at(picture, pixel, 2);
}

class Job {
 public:
  Job(const TilesArguments& arguments, const LargePicture& network, const io::Picture& picture)
      : values_(values_of(arguments.values)),
        picture_(picture),
        input_(network.inputs().at(0)),
        output_(network.outputs().at(0)),
        in_(channels_of("input", input_)),
        out_(channels_of("output", output_)),
        width_(output_.shape[out_.last ? 2 : 3]),
        height_(output_.shape[out_.last ? 1 : 2]),
        pixel_(out_.count == 4 ? 4 : 3),
        writer_(make_picture_writer(arguments.output, static_cast<uint32_t>(width_),
                                    static_cast<uint32_t>(height_), static_cast<uint32_t>(pixel_))) {}

  void read(const PictureRegion& region, std::span<std::byte> values) const {
    check_order(input_, in_, region);
    std::vector<float> to(static_cast<size_t>(region.height * region.width * in_.count));
    for (int64_t y = 0; y < region.height; ++y)
      for (int64_t x = 0; x < region.width; ++x) {
        const auto pixel = static_cast<size_t>((region.top + y) * picture_.width + region.left + x);
        for (int64_t c = 0; c < in_.count; ++c)
          to[place(in_, region, c, y, x)] =
              value_of(picture_, pixel, static_cast<size_t>(c), in_.count) / values_.divisor - values_.shift;
      }
    const Tensor tensor = cast(Tensor::f32({static_cast<int64_t>(to.size())}, to), input_.dtype);
    std::memcpy(values.data(), tensor.data(), values.size());
  }

  // Rows of tiles become rows of the file.
  void write(const PictureRegion& region, std::span<const std::byte> values) {
    check_order(output_, out_, region);
    Tensor tensor(output_.dtype, {region.height * region.width * out_.count});
    std::memcpy(tensor.mutable_data(), values.data(), values.size());
    const std::vector<float> from = tensor.to_floats();
    rows_.resize(static_cast<size_t>(pixel_ * width_ * region.height));
    for (int64_t y = 0; y < region.height; ++y)
      for (int64_t x = 0; x < region.width; ++x)
        for (int64_t c = 0; c < pixel_; ++c) {
          const float value = from[place(out_, region, std::min(c, out_.count - 1), y, x)];
          const float byte = std::round((value + values_.shift) * values_.divisor);
          // A NaN becomes 0.
          rows_[static_cast<size_t>(pixel_ * (y * width_ + region.left + x) + c)] =
              static_cast<uint8_t>(byte > 0 ? std::min(byte, 255.0f) : 0);
        }
    if (region.left + region.width < width_) return;
    const auto row = static_cast<size_t>(pixel_ * width_);
    for (size_t y = 0; y < static_cast<size_t>(region.height); ++y)
      writer_->add_row(std::span(rows_).subspan(row * y, row));
  }

  void finish() { writer_->finish(); }
  int64_t width() const { return width_; }
  int64_t height() const { return height_; }

 private:
  const Values values_;
  const io::Picture& picture_;
  const TensorInfo input_, output_;
  const Channels in_, out_;
  const int64_t width_, height_;
  const int64_t pixel_;  // bytes of a pixel of the file
  const std::unique_ptr<PictureWriter> writer_;
  std::vector<uint8_t> rows_;  // of one row of tiles
};

// The shape of the input for the picture.
Shape shape_for(const TensorInfo& input, const io::Picture& picture) {
  const Channels channels = channels_of("input", input);
  if (channels.last) return {1, picture.height, picture.width, channels.count};
  return {1, channels.count, picture.height, picture.width};
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
  io::require_encodable(arguments.output);
  const io::Picture picture = io::load_picture(arguments.input);
  std::vector<std::string> warnings;
  if (picture.has_alpha && channels_of("input", model.inputs()[0]).count != 4)
    warnings.push_back(arguments.input + ": the network takes no alpha; " + arguments.output + " has none");
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
    nlohmann::json document{{"file", arguments.output},
                            {"width", job.width()},
                            {"height", job.height()},
                            {"tiles", tiles.count()},
                            {"tile_height", tiles.height},
                            {"tile_width", tiles.width},
                            {"memory_budget", options.session.memory_budget},
                            {"peak_bytes", network.peak_bytes()},
                            {"seconds", seconds()}};
    if (!warnings.empty()) document["warnings"] = warnings;
    print_json(document);
    return;
  }
  print(arguments.output + "  " + std::to_string(job.width()) + "x" + std::to_string(job.height()) + " in " +
        std::to_string(tiles.count()) + " tiles of " + std::to_string(tiles.width) + "x" +
        std::to_string(tiles.height) + "\n");
  print_warnings(warnings);
}

}  // namespace

Command add_tiles(CLI::App& app) {
  auto arguments = std::make_shared<TilesArguments>();
  CLI::App* command = app.add_subcommand("tiles", "Run a network over a picture of any size, tile by tile");
  add_model(*command, arguments->model)->required();
  command->add_option("-i,--input", arguments->input, "the picture, PNG, JPEG or BMP")->required();
  command
      ->add_option("-o,--output", arguments->output,
                   "file for the picture that the network makes: .png (of any size), .jpg or .bmp")
      ->required();
  command
      ->add_option("--tile", arguments->tile,
                   "rows and columns of the input that a tile reads, halo included (default: as many as fit)")
      ->check(more_than_zero());
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

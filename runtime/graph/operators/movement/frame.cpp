#include "graph/operators/movement/frame.hpp"

#include <algorithm>
#include <cmath>

#include "vellum/error.hpp"

namespace vellum {
namespace {

using Rgba = FramePixels::Rgba;

// One axis of the filter: the pixels from `first` to first + count - 1, and their weights. `extent`: the size
// of the network's pixel in pixels of the frame; if it is below one, the two nearest pixels are interpolated.
struct FilterAxis {
  FilterAxis(double at, double extent, int64_t frame_size) : size(frame_size), centre(at), covered(extent) {
    if (covered < 1) covered = 0;
    first = static_cast<int64_t>(std::floor(covered > 0 ? centre - covered / 2 : centre - 0.5));
    count = covered > 0 ? static_cast<int64_t>(std::ceil(centre + covered / 2)) - first : 2;
  }

  double weight(int64_t i) const {
    const auto begin = static_cast<double>(first + i);
    if (covered == 0) return 1 - std::abs(begin + 0.5 - centre);
    const double overlap = std::min(begin + 1, centre + covered / 2) - std::max(begin, centre - covered / 2);
    return std::max(0.0, overlap) / covered;
  }
  int64_t pixel(int64_t i) const { return std::clamp<int64_t>(first + i, 0, size - 1); }

  int64_t size, first = 0, count = 0;
  double centre, covered;
};

class FrameReader {
 public:
  FrameReader(const Frame& op, const uint8_t* bytes, std::span<const float> matrix)
      : op_(op), pixels_(op.frame, bytes), m_(usable_transform(matrix)) {
    if (op.frame.filter == FrameFilter::bilinear) return;
    const auto most = static_cast<double>(kMostAveraged);
    if ((m_[1] == 0 && m_[3] == 0) || (m_[0] == 0 && m_[4] == 0)) {
      extent_ = {std::min(std::abs(m_[0]) + std::abs(m_[1]), most),
                 std::min(std::abs(m_[3]) + std::abs(m_[4]), most)};
    } else {
      // The tolerance keeps a length that rounding brings above an integer.
      for (size_t axis = 0; axis < 2; ++axis)
        samples_[axis] =
            static_cast<int64_t>(std::clamp(std::ceil(std::hypot(m_[axis], m_[axis + 3]) - 1e-3), 1.0, most));
    }
  }

  // Red, green, blue and alpha, in 0..255, at a pixel of the network.
  Rgba at(int64_t x, int64_t y) const {
    const auto [cx, cy] = position(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5);
    const bool inside = cx >= 0 && cy >= 0 && cx <= op_.frame.width && cy <= op_.frame.height;
    if (op_.frame.fill && !inside)
      return {(*op_.frame.fill)[0], (*op_.frame.fill)[1], (*op_.frame.fill)[2], 255};
    Rgba sum{};
    const auto offset = [](int64_t i, int64_t n) {
      return (static_cast<double>(i) + 0.5) / static_cast<double>(n);
    };
    for (int64_t j = 0; j < samples_[1]; ++j) {
      for (int64_t i = 0; i < samples_[0]; ++i) {
        const auto [sx, sy] = position(static_cast<double>(x) + offset(i, samples_[0]),
                                       static_cast<double>(y) + offset(j, samples_[1]));
        add_filtered(sx, sy, sum);
      }
    }
    for (double& value : sum) value /= static_cast<double>(samples_[0] * samples_[1]);
    return sum;
  }

 private:
  std::array<double, 2> position(double x, double y) const {
    // Positions far outside read the border, too.
    const double margin = 2 * kMostAveraged;
    return {std::clamp(m_[0] * x + m_[1] * y + m_[2], -margin, op_.frame.width + margin),
            std::clamp(m_[3] * x + m_[4] * y + m_[5], -margin, op_.frame.height + margin)};
  }

  void add_filtered(double x, double y, Rgba& sum) const {
    const FilterAxis columns(x, extent_[0], op_.frame.width), rows(y, extent_[1], op_.frame.height);
    for (int64_t j = 0; j < rows.count; ++j) {
      for (int64_t i = 0; i < columns.count; ++i) {
        const Rgba pixel = pixels_.at(columns.pixel(i), rows.pixel(j));
        const double weight = columns.weight(i) * rows.weight(j);
        for (size_t c = 0; c < 4; ++c) sum[c] += weight * pixel[c];
      }
    }
  }

  const Frame& op_;
  FramePixels pixels_;
  std::array<double, 6> m_;
  std::array<double, 2> extent_{0, 0};    // of an average by coverage
  std::array<int64_t, 2> samples_{1, 1};  // along each axis of a pixel of the network
};

double channel_of(const Frame& op, const Rgba& pixel, size_t channel) {
  if (op.channels == 1)
    return kLumaWeights[0] * pixel[0] + kLumaWeights[1] * pixel[1] + kLumaWeights[2] * pixel[2];
  return op.frame.bgr && channel < 3 ? pixel[2 - channel] : pixel[channel];
}

std::array<float, 4> four(const Attributes& attributes, std::string_view name, float fallback) {
  std::array<float, 4> result;
  result.fill(fallback);
  const Attributes::Floats values = attributes.get_floats(name);
  std::copy_n(values.begin(), std::min(values.size(), result.size()), result.begin());
  return result;
}

}  // namespace

ColorConversion color_conversion(ColorMatrix matrix, ColorRange range) {
  const double red = matrix == ColorMatrix::bt601 ? 0.299 : 0.2126,
               blue = matrix == ColorMatrix::bt601 ? 0.114 : 0.0722;
  const double green = 1 - red - blue;
  const bool full = range == ColorRange::full;
  const double chroma = full ? 1.0 : 255.0 / 224;
  return {.luma_offset = full ? 0.0 : 16.0,
          .luma_scale = full ? 1.0 : 255.0 / 219,
          .red_v = 2 * (1 - red) * chroma,
          .green_u = -2 * blue * (1 - blue) / green * chroma,
          .green_v = -2 * red * (1 - red) / green * chroma,
          .blue_u = 2 * (1 - blue) * chroma};
}

FramePixels::Rgba FramePixels::at(int64_t x, int64_t y) const {
  if (!planes_.has_chroma) {
    const int64_t at = y * planes_.row + x * planes_.pixel;
    const auto& rgb = planes_.rgb;
    return {byte(at + rgb[0]), byte(at + rgb[1]), byte(at + rgb[2]), planes_.pixel == 4 ? byte(at + 3) : 255};
  }
  const int64_t chroma = y / 2 * planes_.chroma_row + x / 2 * planes_.chroma_step;
  const double luma = (byte(y * planes_.row + x) - conversion_.luma_offset) * conversion_.luma_scale;
  const double u = byte(planes_.u + chroma) - 128, v = byte(planes_.v + chroma) - 128;
  const auto level = [](double value) { return std::clamp(value, 0.0, 255.0); };
  return {level(luma + conversion_.red_v * v),
          level(luma + conversion_.green_u * u + conversion_.green_v * v),
          level(luma + conversion_.blue_u * u), 255};
}

std::array<double, 6> usable_transform(std::span<const float> values) {
  std::array<double, 6> result;
  std::ranges::transform(values, result.begin(), [](double value) {
    return std::isfinite(value) ? std::clamp(value, -1e9, 1e9) : 0.0;
  });
  return result;
}

uint32_t size_attribute(const Attributes& attributes, std::string_view name, int64_t most) {
  const int64_t value = attributes.get_int(name, 0);
  if (value < 0 || value > most)
    refuse_model("the attribute " + std::string(name) + " is " + std::to_string(value));
  return static_cast<uint32_t>(value);
}

std::vector<TensorType> Frame::infer(Inputs inputs) const {
  const TensorType &bytes = input_type(inputs, 0, "frame"),
                   &matrix = float_input_type(inputs, 1, "transform");
  const int64_t wanted = planes_of(frame).bytes;
  if (bytes.dtype != DType::u8 || bytes.shape != Shape{wanted})
    refuse_model("the frame is " + to_string(bytes) + ", expected " + std::to_string(wanted) + " uint8");
  if (matrix.shape != Shape{2, 3}) refuse_model("the transform is " + to_string(matrix) + ", expected 2x3");
  return {{DType::f32, {1, channels, height, width}}};
}

std::vector<HostTensor> Frame::evaluate(HostInputs inputs) const {
  HostTensor y(DType::f32, infer_known(*this, inputs)[0].shape);
  const std::vector<float> matrix = inputs[1]->to_floats();
  const FrameReader reader(*this, inputs[0]->as<uint8_t>().data(), matrix);
  const std::span<float> values = y.mutable_as<float>();
  const auto plane = static_cast<size_t>(height * width), count = static_cast<size_t>(channels);
  for (size_t i = 0; i < plane; ++i) {
    const auto at = static_cast<int64_t>(i);
    const Rgba pixel = reader.at(at % width, at / width);
    for (size_t c = 0; c < count; ++c)
      values[c * plane + i] =
          static_cast<float>((channel_of(*this, pixel, c) - frame.mean[c]) * frame.scale[c]);
  }
  return {std::move(y)};
}

uint64_t Frame::work(Inputs inputs, Outputs outputs) const {
  // The transform determines how many pixels are averaged. The estimate assumes the most, because a hostile
  // file may have such a constant transform.
  constexpr uint64_t most = uint64_t{4} * kMostAveraged * kMostAveraged;
  const uint64_t pixels = frame.filter == FrameFilter::area ? most : 4;
  return saturating_multiply(elementwise_work(inputs, outputs), saturating_multiply(pixels, 8));
}

void set_frame(Attributes& attributes, const FrameInput& frame) {
  attributes.set("format", static_cast<int64_t>(frame.format));
  attributes.set("frame_width", int64_t{frame.width});
  attributes.set("frame_height", int64_t{frame.height});
  attributes.set("row_bytes", int64_t{frame.row_bytes});
  attributes.set("matrix", static_cast<int64_t>(frame.matrix));
  attributes.set("range", static_cast<int64_t>(frame.range));
  attributes.set("filter", static_cast<int64_t>(frame.filter));
  if (frame.fill) attributes.set("fill", Attributes::Floats(frame.fill->begin(), frame.fill->end()));
  attributes.set("bgr", int64_t{frame.bgr});
  attributes.set("mean", Attributes::Floats(frame.mean.begin(), frame.mean.end()));
  attributes.set("scale", Attributes::Floats(frame.scale.begin(), frame.scale.end()));
}

FrameInput frame_of(const Attributes& a) {
  FrameInput frame;
  frame.format = enum_attribute(a, "format", FrameFormat::i420);
  frame.width = size_attribute(a, "frame_width", 1 << 16);
  frame.height = size_attribute(a, "frame_height", 1 << 16);
  frame.row_bytes = size_attribute(a, "row_bytes", 1 << 20);
  frame.matrix = enum_attribute(a, "matrix", ColorMatrix::bt709);
  frame.range = enum_attribute(a, "range", ColorRange::full);
  frame.filter = enum_attribute(a, "filter", FrameFilter::area);
  frame.fill = std::nullopt;
  if (const Attributes::Floats fill = a.get_floats("fill"); fill.size() == 3)
    frame.fill = {fill[0], fill[1], fill[2]};
  frame.bgr = get_flag(a, "bgr", false);
  frame.mean = four(a, "mean", 0.0f);
  frame.scale = four(a, "scale", 1.0f);
  return frame;
}

Attributes Frame::attributes() const {
  Attributes result;
  set_frame(result, frame);
  result.set("channels", channels);
  result.set("height", height);
  result.set("width", width);
  return result;
}

std::shared_ptr<const Operator> make_frame(const NodeSpec& spec) {
  const Attributes& a = *spec.attributes;
  auto op = std::make_shared<Frame>();
  op->frame = frame_of(a);
  op->channels = size_attribute(a, "channels", 4);
  op->height = size_attribute(a, "height", 1 << 16);
  op->width = size_attribute(a, "width", 1 << 16);
  if (op->channels < 1 || op->channels == 2 || op->height < 1 || op->width < 1)
    refuse_model("channels, height or width is out of range");
  return op;
}

}  // namespace vellum

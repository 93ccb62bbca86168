#include "graph/operators/movement/picture.hpp"

#include <algorithm>
#include <cmath>

#include "graph/operators/movement/frame.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

using Rgba = FramePixels::Rgba;

struct Position {
  double x = 0, y = 0;
};

Rgba mix(const Rgba& from, const Rgba& to, double share) {
  Rgba result;
  for (size_t c = 0; c < 4; ++c) result[c] = from[c] + share * (to[c] - from[c]);
  return result;
}

// The two positions on an axis of `size` elements that `at` is between, and the share of the second.
struct AxisPair {
  AxisPair(double at, int64_t size) {
    const double lower = std::floor(at - 0.5);
    share = at - 0.5 - lower;
    const auto inside = [&](double position) {
      return static_cast<int64_t>(std::clamp(position, 0.0, static_cast<double>(size - 1)));
    };
    first = inside(lower);
    second = inside(lower + 1);
  }
  int64_t first, second;
  double share;
};

class Values {
 public:
  Values(const Picture& op, const Shape& shape, std::span<const float> elements)
      : channels(shape[1]),
        height(shape[2]),
        width(shape[3]),
        elements_(elements),
        nearest_(op.filter == PictureFilter::nearest || op.values_are_classes(channels)) {}

  double at(int64_t channel, Position p) const {
    const AxisPair rows(p.y, height), columns(p.x, width);
    const auto element = [&](int64_t y, int64_t x) -> double {
      return elements_[static_cast<size_t>((channel * height + y) * width + x)];
    };
    if (nearest_)
      return element(std::clamp<int64_t>(static_cast<int64_t>(std::floor(p.y)), 0, height - 1),
                     std::clamp<int64_t>(static_cast<int64_t>(std::floor(p.x)), 0, width - 1));
    const auto row = [&](int64_t y) {
      return std::lerp(element(y, columns.first), element(y, columns.second), columns.share);
    };
    return std::lerp(row(rows.first), row(rows.second), rows.share);
  }

  int64_t largest(Position p) const {
    int64_t best = 0;
    double most = at(0, p);
    for (int64_t c = 1; c < channels; ++c) {
      const double value = at(c, p);
      if (value > most) most = value, best = c;
    }
    return best;
  }

  int64_t channels, height, width;

 private:
  std::span<const float> elements_;
  bool nearest_;
};

class Painter {
 public:
  Painter(const Picture& op, const Values& values, std::span<const float> palette)
      : op_(op), values_(values), palette_(palette), colors_(static_cast<int64_t>(palette.size() / 4)) {}

  Rgba at(Position p) const {
    switch (op_.colors) {
      case PictureColors::ramp: {
        const double place = share(0, p) * static_cast<double>(colors_ - 1);
        const auto first =
            std::clamp<int64_t>(static_cast<int64_t>(place), 0, std::max<int64_t>(colors_ - 2, 0));
        return mix(color(first), color(std::min(first + 1, colors_ - 1)), place - static_cast<double>(first));
      }
      case PictureColors::steps:
        return color(std::min(static_cast<int64_t>(share(0, p) * static_cast<double>(colors_)), colors_ - 1));
      case PictureColors::classes:
        return color(class_at(p) % colors_);
      case PictureColors::rgb:
        return {255 * share(0, p), 255 * share(1, p), 255 * share(2, p),
                values_.channels == 4 ? 255 * share(3, p) : 255};
    }
    return {};
  }

 private:
  double share(int64_t channel, Position p) const {
    const double scale = 1 / (static_cast<double>(op_.high) - static_cast<double>(op_.low));
    const double t = (values_.at(channel, p) - static_cast<double>(op_.low)) * scale;
    return std::isnan(t) ? 0 : std::clamp(t, 0.0, 1.0);
  }

  int64_t class_at(Position p) const {
    if (!op_.values_are_classes(values_.channels)) return values_.largest(p);
    const double value = values_.at(0, p);
    return std::isnan(value) ? 0 : static_cast<int64_t>(std::clamp(std::floor(value + 0.5), 0.0, 1e9));
  }

  Rgba color(int64_t i) const {
    Rgba result;
    for (size_t c = 0; c < 4; ++c) result[c] = palette_[4 * static_cast<size_t>(i) + c];
    return result;
  }

  const Picture& op_;
  const Values& values_;
  std::span<const float> palette_;
  int64_t colors_;
};

// The frame below the picture, and where the network saw it.
class Below {
 public:
  Below(const Picture& op, const uint8_t* bytes, std::span<const float> transform)
      : op_(op),
        pixels_(op.frame, bytes),
        m_(usable_transform(transform)),
        area_(m_[0] * m_[4] - m_[1] * m_[3]) {}

  Rgba at(Position p) const {
    const AxisPair rows(p.y, op_.frame.height), columns(p.x, op_.frame.width);
    const auto row = [&](int64_t y) {
      return mix(pixels_.at(columns.first, y), pixels_.at(columns.second, y), columns.share);
    };
    return mix(row(rows.first), row(rows.second), rows.share);
  }

  // In fractions of the network's input; nothing where it did not see the frame.
  std::optional<Position> in_network(Position p) const {
    if (std::abs(area_) < 1e-30) return std::nullopt;
    const double x = p.x - m_[2], y = p.y - m_[5];
    const Position at{(m_[4] * x - m_[1] * y) / area_ / static_cast<double>(op_.network_width),
                      (m_[0] * y - m_[3] * x) / area_ / static_cast<double>(op_.network_height)};
    const bool seen = at.x >= 0 && at.y >= 0 && at.x <= 1 && at.y <= 1;
    return seen ? std::optional(at) : std::nullopt;
  }

 private:
  const Picture& op_;
  FramePixels pixels_;
  std::array<double, 6> m_;
  double area_;
};

void write_pixel(const Rgba& color, uint8_t* to) {
  // NaN, of a palette in a hostile file, becomes 0.
  for (size_t c = 0; c < 4; ++c)
    to[c] = color[c] > 0 ? static_cast<uint8_t>(std::lround(std::min(color[c], 255.0))) : uint8_t{0};
}

}  // namespace

std::vector<TensorType> Picture::infer(Inputs inputs) const {
  const TensorType &values = float_input_type(inputs, 0, "values"),
                   &palette = float_input_type(inputs, 1, "palette");
  if (values.shape.size() != 4 || (values.shape[0] != 1 && values.shape[0] != kUnknownDim))
    refuse_model("the values are " + to_string(values) + ", expected (1, C, H, W)");
  const int64_t channels = values.shape[1];
  if (colors == PictureColors::rgb && channels != 3 && channels != 4 && channels != kUnknownDim)
    refuse_model("the values are " + to_string(values) + ", expected 3 or 4 channels");
  if (is_known(values.shape) && element_count(values.shape) == 0) refuse_model("there are no values");
  if (palette.shape.size() != 2 || palette.shape[0] < 1 || palette.shape[0] > kMostPictureColors ||
      palette.shape[1] != 4)
    refuse_model("the palette is " + to_string(palette) + ", expected colours of 4 values");
  if (has_frame) {
    const TensorType &bytes = input_type(inputs, 2, "frame"),
                     &matrix = float_input_type(inputs, 3, "transform");
    const int64_t wanted = planes_of(frame).bytes;
    if (bytes.dtype != DType::u8 || bytes.shape != Shape{wanted})
      refuse_model("the frame is " + to_string(bytes) + ", expected " + std::to_string(wanted) + " uint8");
    if (matrix.shape != Shape{2, 3}) refuse_model("the transform is " + to_string(matrix) + ", expected 2x3");
  }
  return {{DType::u8, {height, width, 4}}};
}

std::vector<HostTensor> Picture::evaluate(HostInputs inputs) const {
  HostTensor y(DType::u8, infer_known(*this, inputs)[0].shape);
  const std::vector<float> elements = inputs[0]->to_floats(), palette = inputs[1]->to_floats();
  const Values values(*this, inputs[0]->shape(), elements);
  const Painter painter(*this, values, palette);
  std::optional<Below> below;
  if (has_frame) below.emplace(*this, inputs[2]->as<uint8_t>().data(), inputs[3]->to_floats());
  uint8_t* to = y.mutable_as<uint8_t>().data();
  const auto value_position = [&](Position fraction) {
    return Position{fraction.x * static_cast<double>(values.width),
                    fraction.y * static_cast<double>(values.height)};
  };
  for (int64_t row = 0; row < height; ++row) {
    for (int64_t column = 0; column < width; ++column, to += 4) {
      const Position at{(static_cast<double>(column) + 0.5) / static_cast<double>(width),
                        (static_cast<double>(row) + 0.5) / static_cast<double>(height)};
      if (!below) {
        write_pixel(painter.at(value_position(at)), to);
        continue;
      }
      const Position in_frame{at.x * frame.width, at.y * frame.height};
      Rgba color = below->at(in_frame);
      if (const auto seen = below->in_network(in_frame)) {
        const Rgba above = painter.at(value_position(*seen));
        color = mix(color, above, above[3] / 255);
      }
      color[3] = 255;
      write_pixel(color, to);
    }
  }
  return {std::move(y)};
}

uint64_t Picture::work(Inputs inputs, Outputs outputs) const {
  const Shape& values = inputs[0].type.shape;
  const auto channels = static_cast<uint64_t>(std::max<int64_t>(values.size() == 4 ? values[1] : 1, 1));
  return saturating_multiply(elementwise_work(inputs, outputs), saturating_multiply(channels, 32));
}

Attributes Picture::attributes() const {
  Attributes result;
  result.set("colors", static_cast<int64_t>(colors));
  result.set("picture_filter", static_cast<int64_t>(filter));
  result.set("bounds", Attributes::Floats{low, high});
  result.set("width", width);
  result.set("height", height);
  if (has_frame) {
    result.set("network_width", network_width);
    result.set("network_height", network_height);
    set_frame(result, frame);
  }
  return result;
}

std::shared_ptr<const Operator> make_picture(const NodeSpec& spec) {
  const Attributes& a = *spec.attributes;
  auto op = std::make_shared<Picture>();
  op->colors = enum_attribute(a, "colors", PictureColors::rgb);
  op->filter = enum_attribute(a, "picture_filter", PictureFilter::nearest);
  if (const Attributes::Floats bounds = a.get_floats("bounds"); bounds.size() == 2)
    op->low = bounds[0], op->high = bounds[1];
  op->width = size_attribute(a, "width", kMostPicturePixels);
  op->height = size_attribute(a, "height", kMostPicturePixels);
  op->has_frame = a.get_int("network_width", 0) > 0;
  if (op->has_frame) {
    op->network_width = size_attribute(a, "network_width", 1 << 16);
    op->network_height = size_attribute(a, "network_height", 1 << 16);
    op->frame = frame_of(a);
  }
  const bool finite = std::isfinite(op->low) && std::isfinite(op->high) && op->low != op->high;
  if (op->width < 1 || op->height < 1 || op->network_width < 1 || op->network_height < 1 || !finite)
    refuse_model("width, height or bounds are out of range");
  return op;
}

}  // namespace vellum

#include "graph/operators/movement/sample.hpp"

#include <algorithm>
#include <cmath>

#include "graph/operators/movement/gather.hpp"

namespace vellum {

namespace {

constexpr std::string_view kPaddings[] = {"zeros", "border", "reflection"};

// One channel of an image.
struct Plane {
  const float* data;
  int64_t height, width;
};

// Mirrors x back and forth between low and high.
double reflect(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0.0) return low;
  const double turns = std::fmod(std::fabs(x - low), 2.0 * range);
  return low + (turns <= range ? turns : 2.0 * range - turns);
}

class Sampler {
 public:
  Sampler(const GridSample& op, Plane plane) : op_(op), plane_(plane) {}

  float at(float grid_x, float grid_y) const {
    const double x = op_.position(grid_x, plane_.width), y = op_.position(grid_y, plane_.height);
    if (op_.mode == SampleMode::cubic) return cubic(x, y);
    const double px = op_.pad(x, plane_.width), py = op_.pad(y, plane_.height);
    // nearbyint: half to even, the default rounding mode.
    if (op_.mode == SampleMode::nearest) return element(std::nearbyint(px), std::nearbyint(py));
    const double x0 = std::floor(px), y0 = std::floor(py), tx = px - x0, ty = py - y0;
    const double top = (1.0 - tx) * element(x0, y0) + tx * element(x0 + 1, y0);
    const double bottom = (1.0 - tx) * element(x0, y0 + 1) + tx * element(x0 + 1, y0 + 1);
    return static_cast<float>((1.0 - ty) * top + ty * bottom);
  }

 private:
  // Zero outside the image.
  double inside(double x, double y) const {
    if (!(x >= 0.0 && y >= 0.0 && x < static_cast<double>(plane_.width) &&
          y < static_cast<double>(plane_.height))) {
      return 0.0;
    }
    return plane_.data[static_cast<int64_t>(y) * plane_.width + static_cast<int64_t>(x)];
  }

  float element(double x, double y) const { return static_cast<float>(inside(x, y)); }

  // Keys' kernel with a = -0.75, as in PyTorch; each of the 16 elements is padded for itself.
  float cubic(double x, double y) const {
    const double x0 = std::floor(x), y0 = std::floor(y);
    const auto wx = cubic_weights(static_cast<float>(x - x0), -0.75f);
    const auto wy = cubic_weights(static_cast<float>(y - y0), -0.75f);
    double sum = 0.0;
    for (int row = 0; row < 4; ++row) {
      for (int column = 0; column < 4; ++column) {
        const double value =
            inside(op_.pad(x0 - 1 + column, plane_.width), op_.pad(y0 - 1 + row, plane_.height));
        const float weight = wy[static_cast<size_t>(row)] * wx[static_cast<size_t>(column)];
        sum += static_cast<double>(weight) * value;
      }
    }
    return static_cast<float>(sum);
  }

  const GridSample& op_;
  Plane plane_;
};

// One channel of a volume.
struct Volume {
  const float* data;
  std::array<int64_t, 3> size;  // along x, y, z

  double at(const std::array<double, 3>& p) const {
    for (size_t i = 0; i < 3; ++i)
      if (!(p[i] >= 0.0 && p[i] < static_cast<double>(size[i]))) return 0.0;
    return data[(static_cast<int64_t>(p[2]) * size[1] + static_cast<int64_t>(p[1])) * size[0] +
                static_cast<int64_t>(p[0])];
  }
};

float sample_volume(const GridSample& op, const Volume& volume, const float* grid) {
  std::array<double, 3> first{}, t{};
  for (size_t i = 0; i < 3; ++i) {
    const double p = op.pad(op.position(grid[i], volume.size[i]), volume.size[i]);
    // nearbyint: half to even, the default rounding mode.
    first[i] = op.mode == SampleMode::nearest ? std::nearbyint(p) : std::floor(p);
    t[i] = p - first[i];
  }
  if (op.mode == SampleMode::nearest) return static_cast<float>(volume.at(first));
  double sum = 0.0;
  for (size_t corner = 0; corner < 8; ++corner) {
    std::array<double, 3> p = first;
    double weight = 1.0;
    for (size_t i = 0; i < 3; ++i) {
      const bool next = (corner >> i & 1) != 0;
      p[i] += next ? 1.0 : 0.0;
      weight *= next ? t[i] : 1.0 - t[i];
    }
    sum += weight * volume.at(p);
  }
  return static_cast<float>(sum);
}

}  // namespace

double GridSample::position(float grid, int64_t size) const {
  const double unit = (static_cast<double>(grid) + 1.0) / 2.0, length = static_cast<double>(size);
  return align_corners ? unit * (length - 1.0) : unit * length - 0.5;
}

double GridSample::pad(double x, int64_t size) const {
  const double last = static_cast<double>(size - 1);
  if (std::isnan(x)) return -2.0;  // outside
  switch (padding) {
    case SamplePadding::zeros:
      // Anything outside reads zeros; clamped, so that the conversion to an index is defined.
      return std::clamp(x, -2.0, last + 2.0);
    case SamplePadding::border:
      return std::clamp(x, 0.0, last);
    case SamplePadding::reflection:
      return std::clamp(align_corners ? reflect(x, 0.0, last) : reflect(x, -0.5, last + 0.5), 0.0, last);
  }
  return x;
}

std::vector<TensorType> GridSample::infer(Inputs inputs) const {
  const TensorType &x = float_input_type(inputs, 0, "X"), &grid = float_input_type(inputs, 1, "grid");
  const size_t rank = x.shape.size();
  if (rank != 4 && rank != 5)
    refuse_unsupported("X has shape " + to_string(x.shape) + ", expected N x C x H x W or N x C x D x H x W");
  if (rank == 5 && mode == SampleMode::cubic) refuse_model("mode cubic is for images, X is a volume");
  if (grid.shape.size() != rank || grid.shape[0] != x.shape[0] ||
      grid.shape.back() != static_cast<int64_t>(rank) - 2)
    refuse_model("grid is " + to_string(grid) + ", X " + to_string(x));
  Shape shape = grid.shape;
  shape.pop_back();
  shape.insert(shape.begin() + 1, x.shape[1]);
  return {{x.dtype, shape}};
}

std::vector<HostTensor> GridSample::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const HostTensor x = cast(*inputs[0], DType::f32), grid = cast(*inputs[1], DType::f32);
  const Shape& from = x.shape();
  const size_t axes = from.size() - 2;
  const int64_t elements = product(from, 2, from.size()), points = product(type.shape, 2, from.size());
  HostTensor y(DType::f32, type.shape);
  float* out = y.mutable_as<float>().data();
  for (int64_t n = 0; n < from[0]; ++n) {
    for (int64_t c = 0; c < from[1]; ++c) {
      const float* data = x.as<float>().data() + (n * from[1] + c) * elements;
      const float* place = grid.as<float>().data() + n * points * static_cast<int64_t>(axes);
      for (int64_t i = 0; i < points; ++i, place += axes)
        *out++ = axes == 2 ? Sampler(*this, {data, from[2], from[3]}).at(place[0], place[1])
                           : sample_volume(*this, {data, {from[4], from[3], from[2]}}, place);
    }
  }
  return {cast(y, type.dtype)};
}

uint64_t GridSample::work(Inputs inputs, Outputs outputs) const {
  return saturating_multiply(elementwise_work(inputs, outputs), 16);  // at most 16 taps
}

Attributes GridSample::attributes() const {
  constexpr std::string_view modes[] = {"nearest", "linear", "cubic"};
  Attributes result;
  result.set("mode", std::string(modes[static_cast<size_t>(mode)]));
  result.set("padding_mode", std::string(kPaddings[static_cast<size_t>(padding)]));
  result.set("align_corners", int64_t{align_corners});
  return result;
}

std::vector<TensorType> RoiAlign::infer(Inputs inputs) const {
  const TensorType &x = float_input_type(inputs, 0, "X"), &rois = float_input_type(inputs, 1, "rois");
  const TensorType& batches = input_type(inputs, 2, "batch_indices");
  require_indices(batches);
  if (x.shape.size() != 4)
    refuse_unsupported("X has shape " + to_string(x.shape) + ", expected N x C x H x W");
  if (rois.shape.size() != 2 || rois.shape[1] != 4 || batches.shape != Shape{rois.shape[0]}) {
    refuse_model("rois are " + to_string(rois) + ", batch_indices " + to_string(batches));
  }
  return {{x.dtype, {rois.shape[0], x.shape[1], height, width}}};
}

namespace {

// The four elements around a position, with their weights; all weights 0 outside the image.
struct Corners {
  std::array<int64_t, 4> index{};
  std::array<float, 4> weight{};
};

Corners corners(float y, float x, int64_t height, int64_t width) {
  Corners result;
  const auto h = static_cast<float>(height), w = static_cast<float>(width);
  if (!(y >= -1.0f && y <= h && x >= -1.0f && x <= w)) return result;
  y = std::clamp(y, 0.0f, h - 1.0f);
  x = std::clamp(x, 0.0f, w - 1.0f);
  const auto y0 = static_cast<int64_t>(y), x0 = static_cast<int64_t>(x);
  const int64_t y1 = std::min(y0 + 1, height - 1), x1 = std::min(x0 + 1, width - 1);
  const float ty = y - static_cast<float>(y0), tx = x - static_cast<float>(x0);
  result.index = {y0 * width + x0, y0 * width + x1, y1 * width + x0, y1 * width + x1};
  result.weight = {(1 - ty) * (1 - tx), (1 - ty) * tx, ty * (1 - tx), ty * tx};
  return result;
}

// Samples of one bin; the same for every channel.
struct Bin {
  float y, x, step_y, step_x;
  int64_t rows, columns;
};

float pool_bin(const RoiAlign& op, const Plane& plane, const Bin& bin) {
  float sum = 0.0f;
  std::optional<float> largest;
  for (int64_t row = 0; row < bin.rows; ++row) {
    for (int64_t column = 0; column < bin.columns; ++column) {
      const Corners c =
          corners(bin.y + (static_cast<float>(row) + 0.5f) * bin.step_y,
                  bin.x + (static_cast<float>(column) + 0.5f) * bin.step_x, plane.height, plane.width);
      for (size_t i = 0; i < 4; ++i) {
        const float value = c.weight[i] * plane.data[c.index[i]];
        sum += value;
        // Like ONNX's reference, mode max takes the largest weighted element, not the largest interpolated
        // value.
        largest = largest ? std::max(*largest, value) : value;
      }
    }
  }
  if (op.maximum) return largest.value_or(0.0f);
  return sum / static_cast<float>(std::max<int64_t>(bin.rows * bin.columns, 1));
}

int64_t samples_per_bin(const RoiAlign& op, float extent, int64_t bins) {
  if (op.sampling_ratio > 0) return op.sampling_ratio;
  const float samples = std::ceil(extent / static_cast<float>(bins));
  if (!(samples <= 65536.0f)) refuse_unsupported("a region of " + std::to_string(extent) + " elements");
  return std::max<int64_t>(0, static_cast<int64_t>(samples));
}

}  // namespace

std::vector<HostTensor> RoiAlign::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const HostTensor x = cast(*inputs[0], DType::f32);
  const auto rois = inputs[1]->to_floats();
  const Ints batches = inputs[2]->to_ints();
  const int64_t channels = x.shape()[1], in_height = x.shape()[2], in_width = x.shape()[3];
  if (in_height == 0 || in_width == 0) refuse_model("X is empty");
  const float offset = half_pixel ? 0.5f : 0.0f;
  HostTensor y(DType::f32, type.shape);
  float* out = y.mutable_as<float>().data();
  for (size_t r = 0; r < batches.size(); ++r) {
    const int64_t batch = checked_index(batches[r], x.shape()[0]);
    const float* roi = rois.data() + 4 * r;
    const float x0 = roi[0] * spatial_scale - offset, y0 = roi[1] * spatial_scale - offset;
    float extent_x = roi[2] * spatial_scale - offset - x0, extent_y = roi[3] * spatial_scale - offset - y0;
    if (!half_pixel) {
      extent_x = std::max(extent_x, 1.0f);
      extent_y = std::max(extent_y, 1.0f);
    }
    const float bin_y = extent_y / static_cast<float>(height), bin_x = extent_x / static_cast<float>(width);
    const int64_t rows = samples_per_bin(*this, extent_y, height),
                  columns = samples_per_bin(*this, extent_x, width);
    for (int64_t c = 0; c < channels; ++c) {
      const Plane plane{x.as<float>().data() + (batch * channels + c) * in_height * in_width, in_height,
                        in_width};
      for (int64_t by = 0; by < height; ++by) {
        for (int64_t bx = 0; bx < width; ++bx) {
          const Bin bin{y0 + static_cast<float>(by) * bin_y,
                        x0 + static_cast<float>(bx) * bin_x,
                        bin_y / static_cast<float>(std::max<int64_t>(rows, 1)),
                        bin_x / static_cast<float>(std::max<int64_t>(columns, 1)),
                        rows,
                        columns};
          *out++ = pool_bin(*this, plane, bin);
        }
      }
    }
  }
  return {cast(y, type.dtype)};
}

uint64_t RoiAlign::work(Inputs inputs, Outputs outputs) const {
  uint64_t samples =
      saturating_multiply(static_cast<uint64_t>(sampling_ratio), static_cast<uint64_t>(sampling_ratio));
  if (sampling_ratio <= 0) {
    // As many samples as the largest region has elements.
    float most = 1.0f;
    const auto rois = inputs[1].constant ? inputs[1].constant->to_floats() : std::vector<float>();
    for (size_t r = 0; r + 3 < rois.size(); r += 4) {
      const float rows = (rois[r + 3] - rois[r + 1]) * spatial_scale / static_cast<float>(height) + 2.0f;
      const float columns = (rois[r + 2] - rois[r]) * spatial_scale / static_cast<float>(width) + 2.0f;
      most = std::max(most, std::max(rows, 1.0f) * std::max(columns, 1.0f));
    }
    samples = most < 1e12f ? static_cast<uint64_t>(most) : uint64_t{1} << 40;
  }
  return saturating_add(elementwise_work(inputs, outputs),
                        saturating_multiply(static_cast<uint64_t>(element_count(outputs[0].shape)),
                                            saturating_multiply(samples, 32)));
}

Attributes RoiAlign::attributes() const {
  Attributes result;
  result.set("mode", std::string(maximum ? "max" : "avg"));
  result.set("output_height", height);
  result.set("output_width", width);
  result.set("sampling_ratio", sampling_ratio);
  result.set("spatial_scale", spatial_scale);
  result.set("coordinate_transformation_mode", std::string(half_pixel ? "half_pixel" : "output_half_pixel"));
  return result;
}

std::shared_ptr<const Operator> make_grid_sample(const NodeSpec& spec) {
  auto op = std::make_shared<GridSample>();
  // Opset 16 has bilinear and bicubic, opset 20 has linear and cubic.
  const std::string mode = spec.attributes->get_string("mode", "bilinear");
  if (mode == "nearest") {
    op->mode = SampleMode::nearest;
  } else if (mode == "bicubic" || mode == "cubic") {
    op->mode = SampleMode::cubic;
  } else if (mode != "bilinear" && mode != "linear") {
    refuse_model("mode '" + mode + "' is unknown");
  }
  const std::string padding = spec.attributes->get_string("padding_mode", "zeros");
  const auto* found = std::find(std::begin(kPaddings), std::end(kPaddings), padding);
  if (found == std::end(kPaddings)) refuse_model("padding_mode '" + padding + "' is unknown");
  op->padding = static_cast<SamplePadding>(found - std::begin(kPaddings));
  op->align_corners = get_flag(*spec.attributes, "align_corners", false);
  return op;
}

std::shared_ptr<const Operator> make_roi_align(const NodeSpec& spec) {
  auto op = std::make_shared<RoiAlign>();
  const Attributes& a = *spec.attributes;
  const std::string mode = a.get_string("mode", "avg");
  if (mode != "avg" && mode != "max") refuse_model("mode '" + mode + "' is unknown");
  op->maximum = mode == "max";
  op->height = a.get_int("output_height", 1);
  op->width = a.get_int("output_width", 1);
  op->sampling_ratio = a.get_int("sampling_ratio", 0);
  op->spatial_scale = a.get_float("spatial_scale", 1.0f);
  const int64_t most = 1 << 16;
  if (op->height < 1 || op->width < 1 || op->height > most || op->width > most || op->sampling_ratio < 0 ||
      op->sampling_ratio > most) {
    refuse_model("output_height, output_width or sampling_ratio is out of range");
  }
  const std::string half = spec.opset >= 16 ? a.get_string("coordinate_transformation_mode", "half_pixel")
                                            : std::string("output_half_pixel");
  if (half != "half_pixel" && half != "output_half_pixel") {
    refuse_model("coordinate_transformation_mode '" + half + "' is unknown");
  }
  op->half_pixel = half == "half_pixel";
  return op;
}

}  // namespace vellum

#include "graph/operators/movement/resize.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/operators/movement/resize_integers.hpp"
#include "graph/real.hpp"

namespace vellum {

namespace {

constexpr std::string_view kModes[] = {"nearest", "linear", "cubic"};
constexpr std::string_view kCoordinates[] = {
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
    "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
constexpr std::string_view kNearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil",
                                         "simple"};
constexpr std::string_view kPolicies[] = {"stretch", "not_larger", "not_smaller"};

template <typename Enum, size_t N>
Enum parse(const std::string_view (&names)[N], const std::string& text, std::string_view what) {
  for (size_t i = 0; i < N; ++i) {
    if (text == names[i]) return static_cast<Enum>(i);
  }
  refuse_model(std::string(what) + " '" + text + "' is unknown");
}

template <typename Enum, size_t N>
std::string print(const std::string_view (&names)[N], Enum value) {
  return std::string(names[static_cast<size_t>(value)]);
}

std::vector<size_t> chosen_axes(const std::optional<Ints>& axes, size_t rank) {
  std::vector<size_t> result;
  if (axes) {
    normalize_axes(*axes, rank);  // throws if an axis is named twice
    for (const int64_t axis : *axes) result.push_back(normalize_axis(axis, rank));
  } else {
    result.resize(rank);
    std::iota(result.begin(), result.end(), size_t{0});
  }
  return result;
}

int64_t scaled_size(int64_t size, float scale) {
  if (!(scale > 0.0f) || !std::isfinite(scale)) refuse_model("a scale is " + std::to_string(scale));
  const float scaled = std::floor(static_cast<float>(size) * scale);
  if (scaled >= static_cast<float>(kMaxElements)) refuse_unsupported("a scale of " + std::to_string(scale));
  return static_cast<int64_t>(scaled);
}

void apply_scales(ResizeGeometry& g, const std::vector<size_t>& axes, const std::vector<float>& scales) {
  if (scales.size() != axes.size()) {
    refuse_model(std::to_string(scales.size()) + " scales for " + std::to_string(axes.size()) +
                 " dimensions");
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    g.scales[axes[i]] = scales[i];
    g.output[axes[i]] = scaled_size(g.input[axes[i]], scales[i]);
    g.lengths[axes[i]] = static_cast<float>(g.input[axes[i]]) * scales[i];
  }
}

void apply_sizes(ResizeGeometry& g, const std::vector<size_t>& axes, const Ints& sizes, AspectPolicy policy) {
  if (sizes.size() != axes.size()) {
    refuse_model(std::to_string(sizes.size()) + " sizes for " + std::to_string(axes.size()) + " dimensions");
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t input = g.input[axes[i]];
    if (sizes[i] < 0 || sizes[i] > kMaxElements || (input == 0 && sizes[i] != 0)) {
      refuse_model("a size is " + std::to_string(sizes[i]) + " for a dimension of " + std::to_string(input));
    }
    g.scales[axes[i]] = input == 0 ? 1.0f : static_cast<float>(sizes[i]) / static_cast<float>(input);
    g.output[axes[i]] = sizes[i];
    g.lengths[axes[i]] = static_cast<float>(sizes[i]);
  }
  if (policy == AspectPolicy::stretch || axes.empty()) return;
  float common = g.scales[axes[0]];
  for (const size_t axis : axes) {
    common = policy == AspectPolicy::not_larger ? std::min(common, g.scales[axis])
                                                : std::max(common, g.scales[axis]);
  }
  for (const size_t axis : axes) {
    g.scales[axis] = common;
    g.lengths[axis] = common * static_cast<float>(g.input[axis]);
    g.output[axis] = static_cast<int64_t>(std::round(g.lengths[axis]));
  }
}

void apply_roi(ResizeGeometry& g, const std::vector<size_t>& axes, const std::vector<float>& roi) {
  if (roi.size() != 2 * axes.size()) {
    refuse_model("roi has " + std::to_string(roi.size()) + " values, expected " +
                 std::to_string(2 * axes.size()));
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    g.roi_begin[axes[i]] = roi[i];
    g.roi_end[axes[i]] = roi[axes.size() + i];
    if (!std::isfinite(roi[i]) || !std::isfinite(roi[axes.size() + i])) refuse_model("roi is not finite");
  }
}

// Returns whether an input is present. An empty tensor is ONNX's older form of omitting an input.
bool has_elements(Inputs inputs, size_t index) {
  return index != Resize::kNone && has_input(inputs, index) && element_count(inputs[index].type.shape) > 0;
}

}  // namespace

ResizeGeometry Resize::geometry(Inputs inputs) const {
  Shape x = input_type(inputs, 0, "X").shape;
  if (strip && x.size() == 4) x[ResizeStrip::kAxis] = strip->input_rows;
  const auto along = chosen_axes(axes, x.size());
  const std::vector<float> zeros(x.size(), 0.0f), ones(x.size(), 1.0f);
  ResizeGeometry g{x, x, ones, std::vector<float>(x.begin(), x.end()), zeros, ones};
  if (scales) {
    apply_scales(g, along, *scales);
  } else if (has_elements(inputs, sizes_input)) {
    apply_sizes(g, along, constant_ints(inputs, sizes_input, "sizes"), policy);
  } else if (has_elements(inputs, scales_input)) {
    apply_scales(g, along, constant_input(inputs, scales_input, "scales").to_floats());
  } else {
    refuse_model("neither scales nor sizes are given");
  }
  if (coordinates == CoordinateMode::tf_crop_and_resize) {
    if (!has_elements(inputs, roi_input)) refuse_model("tf_crop_and_resize without roi");
    apply_roi(g, along, constant_input(inputs, roi_input, "roi").to_floats());
  }
  return g;
}

float Resize::source(const ResizeGeometry& g, size_t axis, int64_t i) const {
  const auto x = static_cast<float>(i), in = static_cast<float>(g.input[axis]), out = g.lengths[axis];
  const float scale = g.scales[axis];
  switch (coordinates) {
    case CoordinateMode::half_pixel:
      return (x + 0.5f) / scale - 0.5f;
    case CoordinateMode::half_pixel_symmetric: {
      // The output, whose size is rounded, centred on the input.
      const float adjustment = static_cast<float>(g.output[axis]) / (scale * in);
      return in / 2.0f * (1.0f - adjustment) + (x + 0.5f) / scale - 0.5f;
    }
    case CoordinateMode::pytorch_half_pixel:
      return out > 1.0f ? (x + 0.5f) / scale - 0.5f : 0.0f;
    case CoordinateMode::align_corners:
      return out > 1.0f ? x * (in - 1.0f) / (out - 1.0f) : 0.0f;
    case CoordinateMode::asymmetric:
      return x / scale;
    case CoordinateMode::tf_half_pixel_for_nn:
      return (x + 0.5f) / scale;
    case CoordinateMode::tf_crop_and_resize: {
      const float begin = g.roi_begin[axis], end = g.roi_end[axis];
      if (out <= 1.0f) return 0.5f * (begin + end) * (in - 1.0f);
      return begin * (in - 1.0f) + x * (end - begin) * (in - 1.0f) / (out - 1.0f);
    }
  }
  return x;
}

int64_t Resize::nearest_index(const ResizeGeometry& g, size_t axis, float coordinate) const {
  float index = 0.0f;
  switch (nearest) {
    case NearestMode::round_prefer_floor:
      index = std::ceil(coordinate - 0.5f);
      break;
    case NearestMode::round_prefer_ceil:
      index = std::floor(coordinate + 0.5f);
      break;
    case NearestMode::floor:
      index = std::floor(coordinate);
      break;
    case NearestMode::ceil:
      index = std::ceil(coordinate);
      break;
    case NearestMode::simple:
      index = g.scales[axis] < 1.0f ? std::ceil(coordinate) : std::floor(coordinate);
      break;
  }
  const auto last = static_cast<float>(g.input[axis] - 1);
  return static_cast<int64_t>(std::clamp(index, 0.0f, last));
}

std::vector<TensorType> Resize::infer(Inputs inputs) const {
  const TensorType& x = input_type(inputs, 0, "X");
  const ResizeGeometry g = geometry(inputs);
  if (x.dtype == DType::boolean && mode != ResizeMode::nearest) refuse_model("interpolation of bool");
  if (element_count(g.output) > 0 && element_count(g.input) == 0) refuse_model("X is empty");
  // Kernel and reference have tables of all rows and all columns.
  constexpr int64_t kMostAlongAxis = int64_t{1} << 22;
  for (const int64_t size : g.output)
    if (size > kMostAlongAxis)
      refuse_unsupported("an output of " + to_string(g.output) + ", with more than " +
                         std::to_string(kMostAlongAxis) + " elements along an axis");
  Shape output = g.output;
  if (strip) output[ResizeStrip::kAxis] = strip->row_count;
  return {{x.dtype, output}};
}

namespace {

// Linear and cubic weights are products over the axes: one axis at a time, over outer x size x inner
// elements.
template <typename Real>
std::vector<Real> resize_axis(const std::vector<Real>& in, const std::vector<ResizeTaps>& taps, int64_t outer,
                              int64_t size, int64_t inner, float extrapolation) {
  const auto row = static_cast<size_t>(inner);
  std::vector<Real> out(static_cast<size_t>(outer) * taps.size() * row, Real{0});
  Real* to = out.data();
  for (int64_t o = 0; o < outer; ++o) {
    for (const ResizeTaps& element : taps) {
      for (const ResizeTap& tap : element.taps) {
        const Real* from = in.data() + (o * size + tap.index) * inner;
        for (size_t i = 0; i < row; ++i) to[i] += static_cast<Real>(tap.weight) * from[i];
      }
      // Later axes blend equal values where this axis is outside, and overwrite where they do.
      if (element.outside) std::fill(to, to + row, static_cast<Real>(extrapolation));
      to += row;
    }
  }
  return out;
}

template <typename Real>
HostTensor interpolated(const Resize& op, const ResizeGeometry& g, const HostTensor& x) {
  std::vector<Real> values = to_reals<Real>(x);
  Shape shape = x.shape();
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (const size_t axis : order) {
    if (op.keeps(g, axis) && !(op.strip && axis == ResizeStrip::kAxis)) continue;
    const std::vector<ResizeTaps> taps = op.taps(g, axis);
    values = resize_axis(values, taps, product(shape, 0, axis), shape[axis],
                         product(shape, axis + 1, shape.size()), op.extrapolation);
    shape[axis] = static_cast<int64_t>(taps.size());
  }
  return HostTensor::from<Real>(x.dtype(), shape, values);
}

HostTensor nearest(const Resize& op, const ResizeGeometry& g, const HostTensor& x) {
  const auto strides = row_major_strides(x.shape());
  std::vector<Ints> offsets(g.output.size());
  Shape output;
  for (size_t axis = 0; axis < g.output.size(); ++axis) {
    for (const ResizeTaps& element : op.taps(g, axis)) {
      offsets[axis].push_back(element.outside ? kOutside : element.taps[0].index * strides[axis]);
    }
    output.push_back(static_cast<int64_t>(offsets[axis].size()));
  }
  const HostTensor fill = HostTensor::from<float>(x.dtype(), {}, std::array{op.extrapolation});
  return gather_by_axis(x, output, offsets, fill);
}

}  // namespace

std::vector<HostTensor> Resize::evaluate(HostInputs inputs) const {
  infer_known(*this, inputs);
  const ResizeGeometry g = geometry(known_inputs(inputs));
  if (mode == ResizeMode::nearest) return {vellum::nearest(*this, g, *inputs[0])};
  if (fixed) return {interpolate_integers(fixed, taps(g, 2), taps(g, 3), *inputs[0])};
  return visit_real(inputs[0]->dtype(), [&](auto tag) {
    return std::vector{interpolated<typename decltype(tag)::type>(*this, g, *inputs[0])};
  });
}

// One axis after the other is resized, in the order of the axes: tensors in between may be larger than the
// output.
uint64_t Resize::work(Inputs inputs, Outputs outputs) const {
  const ResizeGeometry g = geometry(inputs);
  constexpr uint64_t kTaps = 256;  // of one output index: each has a list, which takes memory too
  uint64_t total = elementwise_work(inputs, outputs);
  Shape shape = g.input;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    total = saturating_add(total, saturating_multiply(static_cast<uint64_t>(g.output[axis]), kTaps));
    if (mode == ResizeMode::nearest || keeps(g, axis)) continue;
    shape[axis] = g.output[axis];
    // An average covers two to four times the input elements of an output element.
    const bool averages = antialias && g.scales[axis] < 1.0f && g.scales[axis] > 0.0f;
    const auto taps = averages ? static_cast<uint64_t>(std::min(1e9f, 8.0f + 4.0f / g.scales[axis])) : 8;
    total = saturating_add(total, saturating_multiply(static_cast<uint64_t>(element_count(shape)), taps));
  }
  return total;
}

Attributes Resize::attributes() const {
  Attributes result;
  result.set("mode", print(kModes, mode));
  result.set("coordinate_transformation_mode", print(kCoordinates, coordinates));
  if (mode == ResizeMode::nearest) result.set("nearest_mode", print(kNearest, nearest));
  if (mode == ResizeMode::cubic) result.set("cubic_coeff_a", cubic_a);
  if (antialias) result.set("antialias", int64_t{1});
  if (exclude_outside) result.set("exclude_outside", int64_t{1});
  if (coordinates == CoordinateMode::tf_crop_and_resize) result.set("extrapolation_value", extrapolation);
  if (policy != AspectPolicy::stretch) result.set("keep_aspect_ratio_policy", print(kPolicies, policy));
  if (scales) result.set("scales", *scales);
  if (axes) result.set("axes", *axes);
  if (fixed) result.set("fixed_point", int64_t{1});
  if (strip)
    result.set("strip", Ints{strip->input_rows, strip->first_row, strip->row_count, strip->first_input_row});
  return result;
}

namespace {

// Upsample and Resize 10: before coordinate modes were named, the reading was "asymmetric".
void read_old_resize(Resize& op, const NodeSpec& spec) {
  std::string mode = spec.attributes->get_string("mode", "nearest");
  if (mode == "bilinear") mode = "linear";
  op.mode = parse<ResizeMode>(kModes, mode, "mode");
  op.coordinates = CoordinateMode::asymmetric;
  op.nearest = spec.type == "Upsample" ? NearestMode::floor : NearestMode::simple;
  if (spec.type == "Upsample" && spec.opset < 9) {
    if (!spec.attributes->has("scales")) refuse_model("attribute 'scales' is missing");
    op.scales = spec.attributes->get_floats("scales");
  } else {
    op.scales_input = 1;
  }
}

}  // namespace

std::shared_ptr<const Operator> make_resize(const NodeSpec& spec) {
  auto op = std::make_shared<Resize>();
  op->onnx_type = spec.type;
  if (spec.opset < 7) refuse_unsupported("Upsample before opset 7");
  if (spec.type == "Upsample" || spec.opset < 11) {
    read_old_resize(*op, spec);
    return op;
  }
  const Attributes& a = *spec.attributes;
  op->mode = parse<ResizeMode>(kModes, a.get_string("mode", "nearest"), "mode");
  op->coordinates =
      parse<CoordinateMode>(kCoordinates, a.get_string("coordinate_transformation_mode", "half_pixel"),
                            "coordinate_transformation_mode");
  op->nearest =
      parse<NearestMode>(kNearest, a.get_string("nearest_mode", "round_prefer_floor"), "nearest_mode");
  op->cubic_a = a.get_float("cubic_coeff_a", -0.75f);
  op->exclude_outside = get_flag(a, "exclude_outside", false);
  op->extrapolation = a.get_float("extrapolation_value", 0.0f);
  op->roi_input = 1;
  op->scales_input = 2;
  op->sizes_input = 3;
  if (spec.opset >= 18) {
    op->antialias = get_flag(a, "antialias", false);
    op->axes = optional_ints(a, "axes");
    op->policy = parse<AspectPolicy>(kPolicies, a.get_string("keep_aspect_ratio_policy", "stretch"),
                                     "keep_aspect_ratio_policy");
  }
  return op;
}

}  // namespace vellum

#include "graph/operators/conv/conv.hpp"

#include <algorithm>

#include "graph/real.hpp"

namespace vellum {

WindowPlacement Conv::place(Inputs inputs) const {
  const Shape& x = input_type(inputs, 0, "X").shape;
  const Shape& w = input_type(inputs, 1, "W").shape;
  if (x.size() < 3 || w.size() != x.size()) {
    refuse_model("X of shape " + to_string(x) + " and W of shape " + to_string(w) + " do not fit");
  }
  return window.place(std::span(x).subspan(2), std::span(w).subspan(2));
}

std::vector<TensorType> Conv::infer(Inputs inputs) const {
  const TensorType& x = float_input_type(inputs, 0, "X");
  const TensorType& w = float_input_type(inputs, 1, "W");
  const WindowPlacement placement = place(inputs);
  const int64_t channels = x.shape[1], filters = w.shape[0];
  if (channels % group != 0 || filters % group != 0 || w.shape[1] != channels / group) {
    refuse_model("W of shape " + to_string(w.shape) + " does not fit " + std::to_string(channels) +
                 " channels in " + std::to_string(group) + " groups");
  }
  if (has_input(inputs, 2) && float_input_type(inputs, 2, "B").shape != Shape{filters}) {
    refuse_model("B has shape " + to_string(inputs[2].type.shape) + ", expected " + std::to_string(filters));
  }
  TensorType y{x.dtype, {x.shape[0], filters}};
  y.shape.insert(y.shape.end(), placement.output.begin(), placement.output.end());
  if (has_input(inputs, 3)) {
    Shape residual = float_input_type(inputs, 3, "residual").shape;
    const bool fewer = residual.size() == y.shape.size() && residual[1] <= filters;
    if (fewer) residual[1] = filters;
    if (residual != y.shape) refuse_model("the residual of shape " + to_string(residual) + " does not fit");
  }
  if (has_input(inputs, 4)) {
    Shape factors = x.shape;
    std::fill(factors.begin() + 2, factors.end(), 1);
    if (float_input_type(inputs, 4, "scale").shape != factors)
      refuse_model("the scale of shape " + to_string(inputs[4].type.shape) + " does not fit");
  }
  return {y};
}

namespace {

// Output positions whose input position, out * stride - pad + offset, is in [0, input).
struct Taps {
  int64_t begin, end;
};

Taps inside(int64_t input, int64_t output, int64_t stride, int64_t shift) {
  const int64_t begin = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const int64_t end = input - shift <= 0 ? 0 : (input - shift + stride - 1) / stride;
  return {std::min(begin, output), std::clamp<int64_t>(end, std::min(begin, output), output)};
}

// Adds weight * input for one kernel element to a whole output plane. Sums are double: this is the oracle.
template <typename Real>
void accumulate_plane(const WindowPlacement& p, const Real* input, Real weight,
                      const std::array<int64_t, 3>& tap, double* sums) {
  std::array<int64_t, 3> shift;
  std::array<Taps, 3> range;
  for (size_t i = 0; i < 3; ++i) {
    shift[i] = tap[i] * p.dilations[i] - p.pads_begin[i];
    range[i] = inside(p.input[i], p.output[i], p.strides[i], shift[i]);
  }
  const int64_t stride = p.strides[2];
  for (int64_t z = range[0].begin; z < range[0].end; ++z) {
    for (int64_t y = range[1].begin; y < range[1].end; ++y) {
      const int64_t in_z = z * p.strides[0] + shift[0], in_y = y * p.strides[1] + shift[1];
      const Real* in = input + (in_z * p.input[1] + in_y) * p.input[2] + shift[2];
      double* out = sums + (z * p.output[1] + y) * p.output[2];
      for (int64_t x = range[2].begin; x < range[2].end; ++x) {
        out[x] += static_cast<double>(weight) * static_cast<double>(in[x * stride]);
      }
    }
  }
}

bool contains(const ChannelTaps& taps, const std::array<int64_t, 3>& tap) {
  for (size_t axis = 0; axis < 3; ++axis)
    if (tap[axis] < taps.first[axis] || tap[axis] >= taps.first[axis] + taps.count[axis]) return false;
  return true;
}

// Returns the taps of filter m; all of the window if `channel_taps` is empty.
ChannelTaps taps_of_filter(const std::vector<ChannelTaps>& channel_taps, int64_t m, const Shape& kernel) {
  for (const ChannelTaps& taps : channel_taps) {
    if (m < taps.channels) return taps;
    m -= taps.channels;
  }
  return {1, {0, 0, 0}, {kernel[0], kernel[1], kernel[2]}};
}

}  // namespace

void Conv::convolve(const HostTensor& x, const HostTensor& w, const Sink& sink) const {
  visit_real(x.dtype(), [&](auto tag) { convolve_in<typename decltype(tag)::type>(x, w, sink); });
}

template <typename Real>
void Conv::convolve_in(const HostTensor& x_tensor, const HostTensor& w_tensor, const Sink& sink) const {
  const WindowPlacement p = as_3d(place(known_inputs(std::array{&x_tensor, &w_tensor})));
  const Real* x = x_tensor.template as<Real>().data();
  const Real* w = w_tensor.template as<Real>().data();
  const int64_t batches = x_tensor.shape()[0], channels = x_tensor.shape()[1], filters = w_tensor.shape()[0];
  const int64_t group_channels = channels / group, group_filters = filters / group;
  const int64_t in_plane = element_count(p.input), out_plane = element_count(p.output);
  const int64_t taps = element_count(p.kernel);
  std::vector<double> sums(static_cast<size_t>(out_plane));
  for (int64_t n = 0; n < batches; ++n) {
    for (int64_t m = 0; m < filters; ++m) {
      std::fill(sums.begin(), sums.end(), 0.0);
      const ChannelTaps multiplied = taps_of_filter(channel_taps, m, p.kernel);
      for (int64_t c = 0; c < group_channels; ++c) {
        const Real* in = x + (n * channels + m / group_filters * group_channels + c) * in_plane;
        const Real* kernel = w + (m * group_channels + c) * taps;
        for (int64_t kz = 0; kz < p.kernel[0]; ++kz) {
          for (int64_t ky = 0; ky < p.kernel[1]; ++ky) {
            for (int64_t kx = 0; kx < p.kernel[2]; ++kx, ++kernel) {
              if (contains(multiplied, {kz, ky, kx}))
                accumulate_plane(p, in, *kernel, {kz, ky, kx}, sums.data());
            }
          }
        }
      }
      sink(m, sums);
    }
  }
}

namespace {

// x with each plane multiplied by its factor, and the products rounded.
template <typename Real>
HostTensor scaled(const HostTensor& x, const HostTensor& factors, const Activation& rounding) {
  HostTensor result = cast(x, kRealType<Real>);
  const std::vector<Real> factor = to_reals<Real>(factors);
  const std::span<Real> values = result.template mutable_as<Real>();
  const size_t plane = factor.empty() ? 0 : values.size() / factor.size();
  for (size_t i = 0; i < values.size(); ++i) values[i] = apply_real(rounding, values[i] * factor[i / plane]);
  return result;
}

}  // namespace

std::vector<HostTensor> Conv::evaluate_integers(HostInputs inputs, const TensorType& type) const {
  const FixedPoint& fixed = *fixed_point;
  const bool has_residual = inputs.size() > 3 && inputs[3] != nullptr;
  const std::vector<float> residual = has_residual ? inputs[3]->to_floats() : std::vector<float>();
  const int64_t residual_channels = has_residual ? inputs[3]->shape()[1] : 0;
  auto added = residual.begin();
  std::vector<float> y;
  convolve(in_integers(*inputs[0], {fixed.x_scale}), in_integers(*inputs[1], fixed.w_scale),
           [&](int64_t filter, std::span<const double> plane) {
             const auto m = static_cast<size_t>(filter);
             for (const double sum : plane) {
               const int32_t integer = fixed.result(static_cast<int64_t>(sum), m);
               const double more = filter < residual_channels ? static_cast<double>(*added++) : 0.0;
               const double value =
                   sum_with_residual(activation, static_cast<float>(integer) * fixed.y_scale, more);
               y.push_back(apply(activation, static_cast<float>(value)));
             }
           });
  return {HostTensor::from<float>(type.dtype, type.shape, y)};
}

std::vector<HostTensor> Conv::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  if (fixed_point && fixed_point->fits(activation, inputs.size() > 3 && inputs[3] != nullptr))
    return evaluate_integers(inputs, type);
  return visit_real(type.dtype, [&](auto tag) {
    using Real = typename decltype(tag)::type;
    const bool has_bias = inputs.size() > 2 && inputs[2] != nullptr;
    const std::vector<Real> bias = has_bias ? to_reals<Real>(*inputs[2]) : std::vector<Real>();
    const bool has_residual = inputs.size() > 3 && inputs[3] != nullptr;
    const std::vector<Real> residual = has_residual ? to_reals<Real>(*inputs[3]) : std::vector<Real>();
    const int64_t residual_channels = has_residual ? inputs[3]->shape()[1] : 0;
    auto added = residual.begin();
    HostTensor y(kRealType<Real>, type.shape);
    Real* out = y.mutable_as<Real>().data();
    const bool has_scale = inputs.size() > 4 && inputs[4] != nullptr;
    convolve(has_scale ? scaled<Real>(*inputs[0], *inputs[4], scaling) : cast(*inputs[0], kRealType<Real>),
             cast(*inputs[1], kRealType<Real>), [&](int64_t filter, std::span<const double> plane) {
               const double offset = has_bias ? static_cast<double>(bias[static_cast<size_t>(filter)]) : 0.0;
               for (const double sum : plane) {
                 const double more = filter < residual_channels ? static_cast<double>(*added++) : 0.0;
                 *out++ = apply_real(activation,
                                     static_cast<Real>(sum_with_residual(activation, sum + offset, more)));
               }
             });
    return std::vector{cast(y, type.dtype)};
  });
}

uint64_t Conv::macs(Inputs inputs) const {
  const auto y = infer(inputs)[0];
  const Shape& w = inputs[1].type.shape;
  return static_cast<uint64_t>(checked_multiply(element_count(y.shape), product(w, 1, w.size())));
}

std::shared_ptr<const Operator> Conv::with_activation(const Activation& added) const {
  return copy_with_activation(*this, added);
}

namespace {

Attributes::Ints printed(const std::vector<ChannelTaps>& channel_taps) {
  Attributes::Ints result;
  for (const ChannelTaps& taps : channel_taps) {
    result.push_back(taps.channels);
    result.insert(result.end(), taps.first.begin(), taps.first.end());
    result.insert(result.end(), taps.count.begin(), taps.count.end());
  }
  return result;
}

}  // namespace

Attributes Conv::attributes() const {
  Attributes result;
  window.print(result);
  result.set("group", group);
  if (fixed_point) result.set("fixed_point", int64_t{1});
  if (!channel_taps.empty()) result.set("channel_taps", printed(channel_taps));
  print_activation(result, activation);
  if (scaling) result.set("scaling_step", scaling.step);
  return result;
}

std::shared_ptr<const Operator> make_conv(const NodeSpec& spec) {
  auto op = std::make_shared<Conv>();
  op->window = read_window(*spec.attributes);
  op->group = spec.attributes->get_int("group", 1);
  if (spec.has_input(3)) refuse_model("a Conv has three inputs");
  if (op->group < 1) refuse_model("group is " + std::to_string(op->group));
  return op;
}

}  // namespace vellum

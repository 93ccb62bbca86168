#include "graph/operators/conv/conv_transpose.hpp"

#include <algorithm>

#include "graph/real.hpp"

namespace vellum {

namespace {

int64_t checked_size(const Ints& values, size_t index, size_t axes, const char* what) {
  if (values.size() != axes || values[index] < 0) {
    refuse_model("attribute '" + std::string(what) + "' is " + to_string(Shape(values)));
  }
  return values[index];
}

}  // namespace

WindowPlacement ConvTranspose::place(Inputs inputs) const {
  const Shape& x = input_type(inputs, 0, "X").shape;
  const Shape& w = input_type(inputs, 1, "W").shape;
  if (x.size() < 3 || w.size() != x.size()) {
    refuse_model("X of shape " + to_string(x) + " and W of shape " + to_string(w) + " do not fit");
  }
  WindowPlacement p = window_defaults(window, std::span(x).subspan(2), std::span(w).subspan(2));
  const size_t axes = p.input.size();
  for (size_t i = 0; i < axes; ++i) {
    const int64_t extra =
        output_padding.empty() ? 0 : checked_size(output_padding, i, axes, "output_padding");
    const int64_t reach = checked_add(checked_multiply(p.kernel[i] - 1, p.dilations[i]), 1);
    // The size without any padding cut off.
    const int64_t full =
        checked_add(checked_add(checked_multiply(p.input[i] - 1, p.strides[i]), reach), extra);
    const bool same = window.auto_pad == AutoPad::same_upper || window.auto_pad == AutoPad::same_lower;
    if (output_shape.empty() && !same) {
      p.output[i] = full - p.pads_begin[i] - p.pads_end[i];
    } else {
      p.output[i] = output_shape.empty() ? p.input[i] * p.strides[i]
                                         : checked_size(output_shape, i, axes, "output_shape");
      const int64_t total = std::max<int64_t>(0, full - p.output[i]);
      p.pads_begin[i] = window.auto_pad == AutoPad::same_upper ? total / 2 : total - total / 2;
      p.pads_end[i] = total - p.pads_begin[i];
    }
    if (p.output[i] < 0) refuse_model("pads leave nothing of an output of " + std::to_string(full));
  }
  return p;
}

std::vector<TensorType> ConvTranspose::infer(Inputs inputs) const {
  const TensorType& x = float_input_type(inputs, 0, "X");
  const TensorType& w = float_input_type(inputs, 1, "W");
  const WindowPlacement placement = place(inputs);
  const int64_t channels = x.shape[1];
  if (channels % group != 0 || w.shape[0] != channels) {
    refuse_model("W of shape " + to_string(w.shape) + " does not fit " + std::to_string(channels) +
                 " channels in " + std::to_string(group) + " groups");
  }
  const int64_t filters = checked_multiply(w.shape[1], group);
  if (has_input(inputs, 2) && float_input_type(inputs, 2, "B").shape != Shape{filters}) {
    refuse_model("B has shape " + to_string(inputs[2].type.shape) + ", expected " + std::to_string(filters));
  }
  TensorType y{x.dtype, {x.shape[0], filters}};
  y.shape.insert(y.shape.end(), placement.output.begin(), placement.output.end());
  return {y};
}

namespace {

// Scatters one input plane through one kernel onto an output plane.
template <typename Real>
void scatter_plane(const WindowPlacement& p, const Real* input, const Real* kernel, double* sums) {
  for (int64_t kz = 0; kz < p.kernel[0]; ++kz) {
    for (int64_t ky = 0; ky < p.kernel[1]; ++ky) {
      for (int64_t kx = 0; kx < p.kernel[2]; ++kx) {
        const double weight = *kernel++;
        for (int64_t z = 0; z < p.input[0]; ++z) {
          const int64_t out_z = z * p.strides[0] + kz * p.dilations[0] - p.pads_begin[0];
          if (out_z < 0 || out_z >= p.output[0]) continue;
          for (int64_t y = 0; y < p.input[1]; ++y) {
            const int64_t out_y = y * p.strides[1] + ky * p.dilations[1] - p.pads_begin[1];
            if (out_y < 0 || out_y >= p.output[1]) continue;
            const Real* in = input + (z * p.input[1] + y) * p.input[2];
            double* out = sums + (out_z * p.output[1] + out_y) * p.output[2];
            for (int64_t x = 0; x < p.input[2]; ++x) {
              const int64_t out_x = x * p.strides[2] + kx * p.dilations[2] - p.pads_begin[2];
              if (out_x >= 0 && out_x < p.output[2]) out[out_x] += weight * static_cast<double>(in[x]);
            }
          }
        }
      }
    }
  }
}

}  // namespace

std::vector<HostTensor> ConvTranspose::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const WindowPlacement p = as_3d(place(known_inputs(inputs)));
  return visit_real(type.dtype, [&](auto tag) {
    using Real = typename decltype(tag)::type;
    const bool integers = adds_integers();
    const HostTensor x_tensor =
        cast(integers ? in_integers(*inputs[0], {fixed_point->x_scale}) : *inputs[0], kRealType<Real>);
    const HostTensor w_tensor = cast(
        integers ? transposed_in_integers(*inputs[1], fixed_point->w_scale) : *inputs[1], kRealType<Real>);
    const Real* x = x_tensor.as<Real>().data();
    const Real* w = w_tensor.as<Real>().data();
    const bool has_bias = !integers && inputs.size() > 2 && inputs[2] != nullptr;
    const std::vector<Real> bias = has_bias ? to_reals<Real>(*inputs[2]) : std::vector<Real>();

    const int64_t batches = x_tensor.shape()[0], channels = x_tensor.shape()[1];
    const int64_t group_channels = channels / group, group_filters = w_tensor.shape()[1];
    const int64_t in_plane = element_count(p.input), out_plane = element_count(p.output);
    const int64_t taps = element_count(p.kernel);
    HostTensor y_tensor(kRealType<Real>, type.shape);
    Real* y = y_tensor.mutable_as<Real>().data();
    std::vector<double> sums(static_cast<size_t>(out_plane));
    for (int64_t n = 0; n < batches; ++n) {
      for (int64_t m = 0; m < group_filters * group; ++m) {
        std::fill(sums.begin(), sums.end(),
                  has_bias ? static_cast<double>(bias[static_cast<size_t>(m)]) : 0.0);
        const int64_t first_channel = m / group_filters * group_channels;
        for (int64_t c = first_channel; c < first_channel + group_channels; ++c) {
          scatter_plane(p, x + (n * channels + c) * in_plane,
                        w + (c * group_filters + m % group_filters) * taps, sums.data());
        }
        const auto value = [&](double sum) {
          return integers ? static_cast<double>(static_cast<float>(fixed_point->result(
                                                    static_cast<int64_t>(sum), static_cast<size_t>(m))) *
                                                fixed_point->y_scale)
                          : sum;
        };
        for (const double sum : sums) *y++ = apply_real(activation, static_cast<Real>(value(sum)));
      }
    }
    return std::vector{cast(y_tensor, type.dtype)};
  });
}

uint64_t ConvTranspose::macs(Inputs inputs) const {
  infer(inputs);
  const Shape& w = inputs[1].type.shape;
  return static_cast<uint64_t>(
      checked_multiply(element_count(inputs[0].type.shape), product(w, 1, w.size())));
}

std::shared_ptr<const Operator> ConvTranspose::with_activation(const Activation& added) const {
  return copy_with_activation(*this, added);
}

Attributes ConvTranspose::attributes() const {
  Attributes result;
  window.print(result);
  if (!output_padding.empty()) result.set("output_padding", output_padding);
  if (!output_shape.empty()) result.set("output_shape", output_shape);
  result.set("group", group);
  if (fixed_point) result.set("fixed_point", int64_t{1});
  print_activation(result, activation);
  return result;
}

std::shared_ptr<const Operator> make_conv_transpose(const NodeSpec& spec) {
  auto op = std::make_shared<ConvTranspose>();
  op->window = read_window(*spec.attributes);
  op->output_padding = spec.attributes->get_ints("output_padding");
  op->output_shape = spec.attributes->get_ints("output_shape");
  op->group = spec.attributes->get_int("group", 1);
  if (op->group < 1) refuse_model("group is " + std::to_string(op->group));
  return op;
}

}  // namespace vellum

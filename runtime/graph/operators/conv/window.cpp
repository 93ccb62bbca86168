#include "graph/operators/conv/window.hpp"

#include <algorithm>

#include "graph/operator_support.hpp"

namespace vellum {

namespace {

// Far above any real window, far below where the arithmetic of place() could overflow.
constexpr int64_t kMaxWindowValue = int64_t{1} << 30;

Ints read_bounded(const Attributes& attributes, std::string_view name, int64_t minimum) {
  Ints values = attributes.get_ints(name);
  for (const int64_t value : values) {
    if (value < minimum || value > kMaxWindowValue) {
      refuse_model("attribute '" + std::string(name) + "' holds " + std::to_string(value));
    }
  }
  return values;
}

AutoPad read_auto_pad(const Attributes& attributes) {
  const std::string text = attributes.get_string("auto_pad", "NOTSET");
  if (text == "NOTSET" || text.empty()) return AutoPad::notset;
  if (text == "SAME_UPPER") return AutoPad::same_upper;
  if (text == "SAME_LOWER") return AutoPad::same_lower;
  if (text == "VALID") return AutoPad::valid;
  refuse_model("auto_pad '" + text + "' is unknown");
}

Ints or_default(const Ints& values, size_t count, int64_t fallback, const char* what) {
  if (values.empty()) return Ints(count, fallback);
  if (values.size() != count) {
    refuse_model("attribute '" + std::string(what) + "' has " + std::to_string(values.size()) +
                 " values, expected " + std::to_string(count));
  }
  return values;
}

std::string_view name(AutoPad pad) {
  switch (pad) {
    case AutoPad::same_upper:
      return "SAME_UPPER";
    case AutoPad::same_lower:
      return "SAME_LOWER";
    case AutoPad::valid:
      return "VALID";
    case AutoPad::notset:
      break;
  }
  return "NOTSET";
}

}  // namespace

Window read_window(const Attributes& attributes) {
  Window window;
  window.kernel = read_bounded(attributes, "kernel_shape", 1);
  window.strides = read_bounded(attributes, "strides", 1);
  window.dilations = read_bounded(attributes, "dilations", 1);
  window.pads = read_bounded(attributes, "pads", 0);
  window.auto_pad = read_auto_pad(attributes);
  return window;
}

WindowPlacement window_defaults(const Window& window, std::span<const int64_t> input,
                                std::span<const int64_t> kernel) {
  const size_t axes = input.size();
  if (axes < 1 || axes > 3) {
    refuse_unsupported(std::to_string(axes) + " spatial dimensions; one to three are supported");
  }
  if (kernel.size() != axes ||
      (!window.kernel.empty() &&
       !std::equal(kernel.begin(), kernel.end(), window.kernel.begin(), window.kernel.end()))) {
    refuse_model("kernel_shape " + to_string(Shape(window.kernel)) + " does not fit a kernel of " +
                 to_string(Shape(kernel.begin(), kernel.end())) + " and " + std::to_string(axes) +
                 " spatial dimensions");
  }
  for (size_t i = 0; i < axes; ++i) {
    if (kernel[i] < 1 || kernel[i] > kMaxWindowValue || input[i] > kMaxWindowValue) {
      refuse_model("a kernel of " + std::to_string(kernel[i]) + " over an input of " +
                   std::to_string(input[i]));
    }
  }
  WindowPlacement placement;
  placement.input.assign(input.begin(), input.end());
  placement.kernel.assign(kernel.begin(), kernel.end());
  placement.output.assign(axes, 0);
  placement.strides = or_default(window.strides, axes, 1, "strides");
  placement.dilations = or_default(window.dilations, axes, 1, "dilations");
  const Ints pads = or_default(window.pads, 2 * axes, 0, "pads");
  placement.pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
  placement.pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(axes), pads.end());
  if (window.auto_pad != AutoPad::notset) {
    // Some exporters write pads beside auto_pad; ONNX lets auto_pad win.
    placement.pads_begin.assign(axes, 0);
    placement.pads_end.assign(axes, 0);
  }
  return placement;
}

WindowPlacement Window::place(std::span<const int64_t> input, std::span<const int64_t> kernel_size) const {
  WindowPlacement p = window_defaults(*this, input, kernel_size);
  for (size_t i = 0; i < input.size(); ++i) {
    const int64_t reach = checked_add(checked_multiply(p.kernel[i] - 1, p.dilations[i]), 1);
    if (auto_pad == AutoPad::same_upper || auto_pad == AutoPad::same_lower) {
      p.output[i] = (input[i] + p.strides[i] - 1) / p.strides[i];
      const int64_t total = std::max<int64_t>(0, (p.output[i] - 1) * p.strides[i] + reach - input[i]);
      p.pads_begin[i] = auto_pad == AutoPad::same_upper ? total / 2 : total - total / 2;
      p.pads_end[i] = total - p.pads_begin[i];
      continue;
    }
    const int64_t slack = input[i] + p.pads_begin[i] + p.pads_end[i] - reach;
    if (slack < 0) {
      refuse_model("a window of " + std::to_string(reach) + " does not fit an input of " +
                   std::to_string(input[i]) + " padded by " +
                   std::to_string(p.pads_begin[i] + p.pads_end[i]));
    }
    p.output[i] = (ceil_mode ? (slack + p.strides[i] - 1) / p.strides[i] : slack / p.strides[i]) + 1;
    // A window that would start in the padding after the input is dropped (as ONNX Runtime and PyTorch do).
    if (ceil_mode && (p.output[i] - 1) * p.strides[i] >= input[i] + p.pads_begin[i]) --p.output[i];
  }
  return p;
}

void Window::print(Attributes& attributes) const {
  if (!kernel.empty()) attributes.set("kernel_shape", kernel);
  if (!strides.empty()) attributes.set("strides", strides);
  if (!dilations.empty()) attributes.set("dilations", dilations);
  if (!pads.empty()) attributes.set("pads", pads);
  if (auto_pad != AutoPad::notset) attributes.set("auto_pad", std::string(name(auto_pad)));
  if (ceil_mode) attributes.set("ceil_mode", int64_t{1});
}

WindowPlacement as_3d(WindowPlacement p) {
  const auto widen_by = [missing = 3 - p.input.size()](std::vector<int64_t>& values, int64_t fill) {
    values.insert(values.begin(), missing, fill);
  };
  widen_by(p.input, 1);
  widen_by(p.kernel, 1);
  widen_by(p.output, 1);
  widen_by(p.strides, 1);
  widen_by(p.dilations, 1);
  widen_by(p.pads_begin, 0);
  widen_by(p.pads_end, 0);
  return p;
}

}  // namespace vellum

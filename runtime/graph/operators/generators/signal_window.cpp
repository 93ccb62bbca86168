// HannWindow, HammingWindow and BlackmanWindow: sums of cosines that depend only on the size.
// https://onnx.ai/onnx/operators/onnx__HannWindow.html, onnx__HammingWindow.html, onnx__BlackmanWindow.html
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "graph/composed.hpp"
#include "graph/onnx_types.hpp"

namespace vellum {
namespace {

using Cosines = std::array<double, 3>;  // of 0, 1 and 2 periods, with alternating signs

Cosines cosines_of(const std::string& type) {
  if (type == "HannWindow") return {0.5, 0.5, 0};
  if (type == "HammingWindow") return {25.0 / 46, 21.0 / 46, 0};
  return {0.42, 0.5, 0.08};
}

HostTensor window_values(const Cosines& cosines, int64_t size, bool periodic, DType dtype) {
  std::vector<double> values(Body::table_size({size}));
  const auto period = static_cast<double>(periodic ? size : size - 1);
  for (size_t i = 0; i < values.size(); ++i) {
    const double angle =
        period > 0 ? 2 * std::numbers::pi * static_cast<double>(i) / period : std::numbers::pi;
    values[i] = cosines[0] - cosines[1] * std::cos(angle) + cosines[2] * std::cos(2 * angle);
  }
  return HostTensor::from<double>(dtype, {size}, values);
}

}  // namespace

std::shared_ptr<const Operator> make_signal_window(const NodeSpec& spec) {
  const bool periodic = get_flag(*spec.attributes, "periodic", true);
  const DType dtype = dtype_from_onnx(spec.attributes->get_int("output_datatype", 1));
  return composed(spec, [cosines = cosines_of(spec.type), periodic, dtype](Body& body) {
    const Ints size = constant_ints(body.rule_inputs(), 0, "size");
    if (size.size() != 1 || size[0] < 0) refuse_model("size is no number of elements");
    body.output(body.constant(window_values(cosines, size[0], periodic, dtype)));
  });
}

}  // namespace vellum

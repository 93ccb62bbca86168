#include "import/tflite/hybrid.hpp"

#include <cmath>

#include "graph/operators/conv/scaled_conv.hpp"

namespace vellum::tflite {
namespace {

std::vector<float> factors_of(const Call& call, int64_t channels) {
  std::vector<float> scales = call.writer.scales_of(call.input(1));
  if (scales.size() == 1) scales.assign(static_cast<size_t>(channels), scales[0]);
  return scales;
}

bool is_float_tensor(const Call& call, int32_t tensor) {
  return !call.writer.quantised(tensor) && call.writer.type(tensor).dtype == DType::f32;
}

}  // namespace

bool has_scales_of_channels(const Call& call) { return call.writer.scales_of(call.input(1)).size() > 1; }

bool is_hybrid(const Call& call, int64_t channels) {
  const Writer& writer = call.writer;
  const int32_t weights = call.input(1);
  if (channels < 1 || !is_float_tensor(call, call.input(0)) || !is_float_tensor(call, call.output()))
    return false;
  if (writer.constant(weights) == nullptr || !writer.quantised(weights)) return false;
  if (writer.stored_type(weights) != DType::i8 || writer.has_zero_points(weights)) return false;
  const std::vector<float> factors = factors_of(call, channels);
  if (factors.size() != static_cast<size_t>(channels)) return false;
  for (const float factor : factors)
    if (!(factor > 0.0f) || !std::isfinite(factor)) return false;
  if (!call.has_input(2)) return true;
  const HostTensor* bias = writer.constant(call.input(2));
  return bias != nullptr && is_float_tensor(call, call.input(2)) && bias->elements() == channels;
}

ValueId emit_hybrid(const Call& call, const Conv& conv, ValueId x, const HostTensor& weights, StepsForm form,
                    schema::FusedActivation activation, bool is_inner) {
  Writer& writer = call.writer;
  const int64_t channels = weights.shape()[0];
  const std::vector<float> factors = factors_of(call, channels);
  const std::string name = writer.name_of(call.output());
  std::vector<float> integers = weights.to_floats();
  const size_t each = integers.size() / factors.size();
  for (size_t i = 0; i < integers.size(); ++i) integers[i] = std::nearbyint(integers[i] / factors[i / each]);
  auto dynamic = std::make_shared<DynamicSteps>();
  dynamic->form = form;
  const ValueId steps = writer.add_value(name + "_steps"), scale = writer.add_value(name + "_scale");
  writer.add_node(std::move(dynamic), {x}, {steps, scale});
  auto op = std::make_shared<ScaledConv>();
  op->conv = conv;
  std::vector<ValueId> values{
      steps,
      writer.add_constant(name + "_weights", HostTensor::f32(weights.shape(), integers)),
      call.has_input(2) ? writer.in_file_order(call.input(2)) : kNoValue,
      scale,
      writer.add_constant(name + "_factors", HostTensor::f32({channels}, factors)),
  };
  if (is_inner) return call.emit_inner(std::move(op), std::move(values), activation);
  call.emit(std::move(op), std::move(values), true, activation);
  return kNoValue;
}

}  // namespace vellum::tflite

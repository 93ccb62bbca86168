#include "import/tflite/value_range.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "graph/narrow_types.hpp"
#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/depth_to_space.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/pad.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/resize.hpp"
#include "graph/operators/movement/select_values.hpp"
#include "graph/operators/movement/slice.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "graph/operators/reduction/reduce.hpp"
#include "graph/operators/reduction/softmax.hpp"

namespace vellum::tflite {
namespace {

using InputRange = std::function<ValueRange(size_t)>;

ValueRange hull(std::initializer_list<float> values) {
  for (const float value : values)
    if (std::isnan(value)) return {};
  return {std::min(values), std::max(values)};
}

ValueRange hull(const ValueRange& a, const ValueRange& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

bool is_bounds(ActivationKind kind) {
  return kind == ActivationKind::none || kind == ActivationKind::relu || kind == ActivationKind::clip;
}

// An infinite end would make products NaN.
float finite(float value) { return std::clamp(value, -1e30f, 1e30f); }

ValueRange range_of_activation(const Activation& activation, const ValueRange& x) {
  const float low = apply(activation, finite(x.low)), high = apply(activation, finite(x.high));
  switch (activation.kind) {
    case ActivationKind::relu:
      return {std::max(x.low, 0.0f), std::max(x.high, 0.0f)};
    case ActivationKind::clip:
      return {std::min(std::max(x.low, activation.alpha), activation.beta),
              std::min(std::max(x.high, activation.alpha), activation.beta)};
    case ActivationKind::none:
      return x;
    case ActivationKind::sigmoid:
    case ActivationKind::tanh:
    case ActivationKind::elu:
      return hull({low, high});
    case ActivationKind::leaky_relu:
      return activation.alpha < 0.0f ? hull({low, high, 0.0f}) : hull({low, high});
    case ActivationKind::hard_swish:
      return hull({low, high, x.low < 0.0f ? -0.375f : low});  // its least value is that at -1.5
    case ActivationKind::gelu:
    case ActivationKind::gelu_tanh:
      return hull({low, high, x.low < 0.0f ? -0.1701f : low});
    default:
      return {};
  }
}

ValueRange range_of_unary(const Unary& op, const ValueRange& x) {
  switch (op.kind) {
    case UnaryKind::activation:
      return range_of_activation(op.activation, x);
    case UnaryKind::abs:
      return {0.0f, std::max(-x.low, x.high)};
    case UnaryKind::neg:
      return {-x.high, -x.low};
    case UnaryKind::sin:
    case UnaryKind::cos:
    case UnaryKind::sign:
      return {-1.0f, 1.0f};
    default:
      return {};
  }
}

ValueRange range_of_binary(const Binary& op, const ValueRange& a, const ValueRange& b) {
  if (op.activation) return {};
  switch (op.kind) {
    case BinaryKind::add:
      return {a.low + b.low, a.high + b.high};
    case BinaryKind::sub:
      return {a.low - b.high, a.high - b.low};
    case BinaryKind::mul:
      return hull({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    case BinaryKind::min:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case BinaryKind::max:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    default:
      return {};
  }
}

// x where it is positive, else x times a slope.
ValueRange range_of_prelu(const ValueRange& x, const ValueRange& slope) {
  const float low = std::min(x.low, 0.0f);
  return hull(
      {std::max(x.high, 0.0f), std::min(std::max(x.low, 0.0f), x.high), low * slope.low, low * slope.high});
}

// Whether each element of the first output is an element of the first input, or between some of them.
bool picks_or_averages(const Operator& op) {
  if (const auto* resize = dynamic_cast<const Resize*>(&op))
    return resize->mode == ResizeMode::nearest || resize->mode == ResizeMode::linear;
  if (const auto* reduce = dynamic_cast<const Reduce*>(&op))
    return reduce->kind == ReduceKind::mean || reduce->kind == ReduceKind::max ||
           reduce->kind == ReduceKind::min;
  if (const auto* pool = dynamic_cast<const Pool*>(&op))
    return pool->kind == PoolKind::max || (pool->kind == PoolKind::average && !pool->activation);
  if (const auto* pad = dynamic_cast<const Pad*>(&op)) return pad->mode != PadMode::constant;
  return dynamic_cast<const ReshapeFamily*>(&op) != nullptr ||
         dynamic_cast<const Transpose*>(&op) != nullptr || dynamic_cast<const Slice*>(&op) != nullptr ||
         dynamic_cast<const Split*>(&op) != nullptr || dynamic_cast<const Gather*>(&op) != nullptr ||
         dynamic_cast<const GatherND*>(&op) != nullptr || dynamic_cast<const Tile*>(&op) != nullptr ||
         dynamic_cast<const Expand*>(&op) != nullptr || dynamic_cast<const TopK*>(&op) != nullptr ||
         dynamic_cast<const DepthToSpace*>(&op) != nullptr ||
         dynamic_cast<const SpaceToDepth*>(&op) != nullptr;
}

bool has_limits(const Operator* op, const Activation& activation) {
  return activation.kind == ActivationKind::sigmoid || activation.kind == ActivationKind::tanh ||
         dynamic_cast<const Softmax*>(op) != nullptr;
}

}  // namespace

StoredRange stored_range(DType stored, float scale, int64_t zero_point) {
  const IntegerRange integers = integer_range(stored, 8);
  StoredRange range;
  range.scale = scale;
  range.least = static_cast<float>(integers.low - zero_point);
  range.most = static_cast<float>(integers.high - zero_point);
  range.values = {range.least * scale, range.most * scale};
  return range;
}

ValueRange range_of_elements(const HostTensor& tensor) {
  const auto values = tensor.to_floats();
  if (values.empty()) return {0.0f, 0.0f};
  ValueRange range{values[0], values[0]};
  for (const float value : values) {
    if (std::isnan(value)) return {};
    range = {std::min(range.low, value), std::max(range.high, value)};
  }
  return range;
}

ValueRange range_of_results(const Operator& op, size_t input_count, const InputRange& input_range) {
  if (input_count == 0) return {};
  if (picks_or_averages(op)) return input_range(0);
  if (const auto* unary = dynamic_cast<const Unary*>(&op)) return range_of_unary(*unary, input_range(0));
  if (const auto* binary = dynamic_cast<const Binary*>(&op))
    return range_of_binary(*binary, input_range(0), input_range(1));
  if (dynamic_cast<const PRelu*>(&op) != nullptr) return range_of_prelu(input_range(0), input_range(1));
  if (dynamic_cast<const Where*>(&op) != nullptr) return hull(input_range(1), input_range(2));
  if (const auto* softmax = dynamic_cast<const Softmax*>(&op))
    return softmax->kind == SoftmaxKind::softmax ? ValueRange{0.0f, 1.0f} : ValueRange{};
  if (const auto* pad = dynamic_cast<const Pad*>(&op)) {
    const float value = pad->value;
    return hull(input_range(0), {value, value});
  }
  if (dynamic_cast<const Concat*>(&op) == nullptr) return {};
  ValueRange all = input_range(0);
  for (size_t i = 1; i < input_count; ++i) all = hull(all, input_range(i));
  return all;
}

Activation clipping(const StoredRange& stored, const ValueRange& range, const Operator* producer) {
  const auto* unary = dynamic_cast<const Unary*>(producer);
  const bool activates = unary != nullptr && unary->kind == UnaryKind::activation;
  const Activation activation = activates ? unary->activation : Activation{};
  // Rounding is half a step. Converters put the limit of a function, as the 1 of a sigmoid, one step beyond
  // the largest integer. Tighter bounds in the place of others cost nothing.
  const bool bounds = is_bounds(activation.kind);
  const float steps = activates && bounds ? 0.0f : has_limits(producer, activation) ? 1.01f : 0.51f;
  const float room = steps * stored.scale;
  if (range.low >= stored.values.low - room && range.high <= stored.values.high + room) return {};
  if (bounds) return {ActivationKind::clip, stored.values.low, stored.values.high};
  // A kernel that computes another function rounds and clips its results at once.
  Activation rounding;
  rounding.step = stored.scale;
  rounding.least = stored.least;
  rounding.most = stored.most;
  return rounding;
}

}  // namespace vellum::tflite

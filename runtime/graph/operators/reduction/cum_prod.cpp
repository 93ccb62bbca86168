// CumProd: running products along an axis, in log2(length) rounds (Hillis and Steele, "Data parallel
// algorithms", 1986): each multiplies every element by the one that is 1, 2, 4, ... before it.
// https://onnx.ai/onnx/operators/onnx__CumProd.html
#include <string>
#include <vector>

#include "graph/composed.hpp"

namespace vellum {
namespace {

// Returns x shifted by `by` elements along the axis, or backwards; the freed elements are ones.
ValueId shifted(Body& body, ValueId x, int64_t axis, int64_t by, bool back) {
  const TensorType type = body.type(x);
  const int64_t length = type.shape[static_cast<size_t>(axis)];
  Shape shape = type.shape;
  shape[static_cast<size_t>(axis)] = by;
  const std::vector<float> ones(Body::table_size(shape), 1.0f);
  const ValueId filled = body.constant(HostTensor::from<float>(type.dtype, shape, ones));
  if (by == length) return filled;
  const ValueId rest = back ? body.slice(x, axis, by, length) : body.slice(x, axis, 0, length - by);
  return body.add("Concat", back ? std::vector{rest, filled} : std::vector{filled, rest}, {{"axis", axis}});
}

void cum_prod(Body& body, bool exclusive, bool reverse) {
  const ValueId x = body.input(0, "x");
  const TensorType type = body.type(x);
  if (type.dtype == DType::boolean) refuse_model("CumProd of bool");
  const Ints chosen = constant_ints(body.rule_inputs(), 1, "axis");
  if (chosen.size() != 1) refuse_model("axis has " + std::to_string(chosen.size()) + " values");
  const auto axis = static_cast<int64_t>(normalize_axis(chosen[0], type.shape.size()));
  const int64_t length = type.shape[static_cast<size_t>(axis)];
  ValueId y = exclusive && length > 0 ? shifted(body, x, axis, 1, reverse) : x;
  for (int64_t by = 1; by < length; by *= 2) y = body.add("Mul", {y, shifted(body, y, axis, by, reverse)});
  body.output(y);
}

}  // namespace

std::shared_ptr<const Operator> make_cum_prod(const NodeSpec& spec) {
  const bool exclusive = get_flag(*spec.attributes, "exclusive", false);
  const bool reverse = get_flag(*spec.attributes, "reverse", false);
  return composed(spec, [=](Body& body) { cum_prod(body, exclusive, reverse); });
}

}  // namespace vellum

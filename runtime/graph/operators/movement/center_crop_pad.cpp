// CenterCropPad: for each axis crops a tensor to its middle, or pads it with zeros on both sides.
// https://onnx.ai/onnx/operators/onnx__CenterCropPad.html
#include <numeric>

#include "graph/composed.hpp"

namespace vellum {
namespace {

void crop_or_pad(Body& body, const std::optional<Ints>& axes) {
  ValueId x = body.input(0, "input_data");
  const Shape shape = body.shape(x);
  const Ints target = constant_ints(body.rule_inputs(), 1, "shape");
  Ints all(shape.size());
  std::iota(all.begin(), all.end(), int64_t{0});
  const Ints along = axes.value_or(all);
  normalize_axes(along, shape.size());
  if (target.size() != along.size())
    refuse_model("shape has " + std::to_string(target.size()) + " elements for " +
                 std::to_string(along.size()) + " axes");
  Ints pads(2 * shape.size(), 0);
  bool padded = false;
  for (size_t i = 0; i < along.size(); ++i) {
    const size_t axis = normalize_axis(along[i], shape.size());
    if (target[i] < 0) refuse_model("a dimension is to be " + std::to_string(target[i]));
    const int64_t more = target[i] - shape[axis];
    if (more < 0) x = body.slice(x, static_cast<int64_t>(axis), -more / 2, -more / 2 + target[i]);
    if (more <= 0) continue;
    pads[axis] = more / 2;
    pads[shape.size() + axis] = more - more / 2;
    padded = true;
  }
  body.output(padded ? body.add("Pad", {x, body.ints(pads)}) : x);
}

}  // namespace

std::shared_ptr<const Operator> make_center_crop_pad(const NodeSpec& spec) {
  return composed(spec,
                  [axes = optional_ints(*spec.attributes, "axes")](Body& body) { crop_or_pad(body, axes); });
}

}  // namespace vellum

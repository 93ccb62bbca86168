#include "graph/operators/movement/as_strided.hpp"

#include <algorithm>

namespace vellum {
namespace {

// Refuses a view with elements outside a tensor of `count` elements. Distances are bounded before they are
// added, so that no sum overflows.
void check_bounds(const StridedView& view, int64_t count) {
  int64_t first = view.offset, last = view.offset;
  bool inside = first >= 0 && last < count;
  for (size_t axis = 0; inside && axis < view.shape.size(); ++axis) {
    const int64_t steps = view.shape[axis] - 1, stride = view.strides[axis];
    if (steps == 0 || stride == 0) continue;
    inside = stride > -count && stride < count && steps < count;
    if (!inside) break;
    (stride < 0 ? first : last) += steps * stride;
    inside = first >= 0 && last < count;
  }
  if (!inside) refuse_model("the view leaves its tensor");
}

}  // namespace

std::vector<TensorType> AsStrided::infer(Inputs inputs) const {
  const TensorType& x = input_type(inputs, 0, "X");
  if (view.shape.size() != view.strides.size() || view.shape.size() > kMostDimensions)
    refuse_model("the view has " + std::to_string(view.shape.size()) + " sizes and " +
                 std::to_string(view.strides.size()) + " strides");
  if (std::ranges::any_of(view.shape, [](int64_t size) { return size < 0; }))
    refuse_model("the view has a negative size");
  if (element_count(view.shape) > 0) check_bounds(view, element_count(x.shape));
  return {{x.dtype, view.shape}};
}

std::vector<HostTensor> AsStrided::evaluate(HostInputs inputs) const {
  infer_known(*this, inputs);
  return {gather_strided(*inputs[0], view.shape, view.strides, view.offset)};
}

Attributes AsStrided::attributes() const {
  Attributes result;
  result.set("offset", view.offset);
  result.set("shape", view.shape);
  result.set("strides", view.strides);
  return result;
}

std::shared_ptr<const Operator> make_as_strided(const NodeSpec& spec) {
  auto op = std::make_shared<AsStrided>();
  op->view = {spec.attributes->get_int("offset", 0), spec.attributes->get_ints("shape"),
              spec.attributes->get_ints("strides")};
  return op;
}

}  // namespace vellum

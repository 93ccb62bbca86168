// Hardmax, Dropout with its mask, and pools of integers.
#include "graph/pool.hpp"
#include "graph/reduce.hpp"
#include "graph/reshape.hpp"
#include "graph/softmax.hpp"
#include "passes/decomposition.hpp"

namespace vellum {

// Where the first maximum is, as a one.
bool decompose_hardmax(Decomposition& d) {
  const auto& op = d.op<Softmax>();
  const TensorType& type = d.input_type(0);
  const Softmax::Extent extent = op.extent(type.shape);
  const Shape rows{extent.outer, extent.length, extent.inner};
  const ValueId x = d.add("Reshape", {d.input(0), d.add_ints(rows)});
  const ValueId at = d.add("ArgMax", {x}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}});
  const ValueId values = d.add_floats(type.dtype, {2}, {0.0f, 1.0f});
  const ValueId y = d.add("OneHot", {at, d.add_ints({extent.length}), values}, {{"axis", int64_t{1}}});
  d.add_to({d.output(0)}, "Reshape", {y, d.add_ints(type.shape)});
  return true;
}

// Inference drops nothing, so that the mask is known.
bool decompose_dropout(Decomposition& d) {
  if (!d.has_output(1)) return false;
  const TensorType& mask = d.output_type(1);
  const ValueId one = d.add_constant(HostTensor::from<float>(mask.dtype, {}, std::array{1.0f}));
  d.add_to({d.output(1)}, "Expand", {one, d.add_ints(mask.shape)});
  d.add_to({d.output(0)}, "Identity", {d.input(0)});
  return true;
}

// Floats hold every 8-bit integer.
bool decompose_pool(Decomposition& d) {
  const DType dtype = d.input_type(0).dtype;
  if (is_float(dtype)) return false;
  const ValueId x = d.add("Cast", {d.input(0)}, {{"to", int64_t{1}}});
  std::vector<ValueId> outputs = d.node().outputs;
  const ValueId y = outputs[0] = d.new_value();
  d.add_to(outputs, std::make_shared<Pool>(d.op<Pool>()), {x});
  d.add_to({d.output(0)}, "CastLike", {y, d.input(0)});
  return true;
}

}  // namespace vellum

// Operators whose kernels compute floats, of integers that floats represent exactly.
#include "graph/operators/movement/resize.hpp"
#include "passes/decompose/decomposition.hpp"

namespace vellum {
namespace {

bool is_narrow_integer(DType dtype) {
  return dtype == DType::i8 || dtype == DType::u8 || dtype == DType::i16 || dtype == DType::u16;
}

// Casts input 0 to floats, and output 0 back if `casts_back`.
bool compute_in_floats(Decomposition& d, bool casts_back) {
  if (!is_narrow_integer(d.input_type(0).dtype)) return false;
  std::vector<ValueId> inputs = d.node().inputs, outputs = d.node().outputs;
  inputs[0] = d.add("Cast", {d.input(0)}, {{"to", int64_t{1}}});
  if (casts_back) outputs[0] = d.add_value();
  d.add_to(outputs, d.node().op, std::move(inputs));
  if (casts_back) d.add_to({d.output(0)}, "CastLike", {outputs[0], d.input(0)});
  return true;
}

}  // namespace

// Each element of the output is one of the input.
bool decompose_choice_of_integers(Decomposition& d) { return compute_in_floats(d, true); }

bool decompose_arg_extremum(Decomposition& d) { return compute_in_floats(d, false); }

// An interpolated element is rounded towards zero, as by Cast. Cubic interpolation may leave the range of the
// integers.
bool decompose_resize_of_integers(Decomposition& d) {
  const auto* op = dynamic_cast<const Resize*>(d.node().op.get());
  return op && op->mode != ResizeMode::cubic && !op->antialias && d.input_type(0).shape.size() <= 4 &&
         compute_in_floats(d, true);
}

}  // namespace vellum

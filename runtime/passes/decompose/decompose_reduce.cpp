// Reductions over no axes: what they do to each element.
#include "graph/operators/reduction/reduce.hpp"
#include "passes/decompose/decomposition.hpp"

namespace vellum {

bool decompose_reduce(Decomposition& d) {
  const auto& op = d.op<Reduce>();
  if (!op.noop_with_empty_axes || !op.reduced_axes(d.inputs()).empty()) return false;
  const ValueId x = d.input(0);
  switch (op.kind) {
    case ReduceKind::l1:
    case ReduceKind::l2:
      d.add_to({d.output(0)}, "Abs", {x});
      return true;
    case ReduceKind::sum_square:
      d.add_to({d.output(0)}, "Mul", {x, x});
      return true;
    case ReduceKind::log_sum:
      if (!is_float(d.input_type(0).dtype)) return false;
      d.add_to({d.output(0)}, "Log", {x});
      return true;
    default:
      return false;
  }
}

}  // namespace vellum

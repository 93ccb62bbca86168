// Operator type -> lowering, from the one table runtime/graph/operators.def.
#include "kernels/framework/lowering.hpp"

namespace vellum {

// The word of a row for "no kernel": such an operator runs on the host.
void lower_none(Lowering& lowering) { lowering.run_on_host("the operator has no kernel"); }

#define VELLUM_OPERATOR(type, maker, lowering) void lowering(Lowering&);
#include "graph/operators.def"
#undef VELLUM_OPERATOR

LowerOperator find_lowering(std::string_view operator_type) {
  struct Row {
    std::string_view type;
    LowerOperator lower;
  };
#define VELLUM_OPERATOR(type, maker, lowering) {#type, lowering},
  static constexpr Row kRows[] = {
#include "graph/operators.def"
  };
#undef VELLUM_OPERATOR
  for (const Row& row : kRows)
    if (row.type == operator_type) return row.lower;
  return lower_none;
}

}  // namespace vellum

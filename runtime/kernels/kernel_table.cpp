// Operator type -> lowering, from the one table runtime/graph/operators.def.
#include <map>

#include "kernels/lowering.hpp"

namespace vellum {

// The row's word for "no kernel": such an operator runs on the host.
static void lower_none(Lowering&) {}

#define VELLUM_OPERATOR(type, maker, lowering) __attribute__((weak)) void lowering(Lowering&);
#define lower_none lower_none_declared_above
#include "graph/operators.def"
#undef lower_none
#undef VELLUM_OPERATOR

LowerOperator find_lowering(std::string_view operator_type) {
  struct Row {
    std::string_view type;
    LowerOperator lower;
  };
#define VELLUM_OPERATOR(type, maker, lowering) {#type, lowering},
  static const Row rows[] = {
#include "graph/operators.def"
  };
#undef VELLUM_OPERATOR
  for (const Row& row : rows)
    if (row.type == operator_type) return row.lower == lower_none ? nullptr : row.lower;
  return nullptr;
}

}  // namespace vellum

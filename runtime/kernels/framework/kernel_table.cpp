// Operator -> lowering, from the tables runtime/graph/operators.def and operators/fused/fused_kernels.def.
#include "graph/operators/fused/fused_nodes.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// The lowering of operators without a kernel, which run on the host.
void lower_none(Lowering& lowering) { lowering.run_on_host("the operator has no kernel"); }

#define VELLUM_OPERATOR(type, maker, lowering) void lowering(Lowering&);
#include "graph/operators.def"
#undef VELLUM_OPERATOR
#define VELLUM_FUSED_KERNEL(id, type, rank, falls_back, match, lower) void lower(Lowering&);
#include "graph/operators/fused/fused_kernels.def"
#undef VELLUM_FUSED_KERNEL

namespace {

LowerOperator find_operator_lowering(std::string_view operator_type) {
  struct Row {
    std::string_view type;
    LowerOperator lower;
  };
#define VELLUM_OPERATOR(type, maker, lowering) {#type, lowering},
  static constexpr Row kLowerings[] = {
#include "graph/operators.def"
  };
#undef VELLUM_OPERATOR
  for (const Row& row : kLowerings)
    if (row.type == operator_type) return row.lower;
  return lower_none;
}

// The lowerings of fused kernels, in the order of FusedKernelId.
constexpr LowerOperator kFusedLowerings[] = {
#define VELLUM_FUSED_KERNEL(id, type, rank, falls_back, match, lower) lower,
#include "graph/operators/fused/fused_kernels.def"
#undef VELLUM_FUSED_KERNEL
};

}  // namespace

LowerOperator find_lowering(const Operator& op) {
  if (const auto* fused = dynamic_cast<const FusedNodes*>(&op))
    return kFusedLowerings[static_cast<size_t>(fused->kernel)];
  return find_operator_lowering(op.type());
}

}  // namespace vellum

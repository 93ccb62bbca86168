// Lowers operators that change only the shape, not the order of elements.
#include "graph/operators/movement/reshape.hpp"

#include "kernels/framework/elements.hpp"

namespace vellum {

void lower_reshape(Lowering& lowering) {
  if (lowering.node().outputs.size() > 1) return lowering.run_on_host("Dropout with its mask has no kernel");
  lowering.alias(0, 0);
}

}  // namespace vellum

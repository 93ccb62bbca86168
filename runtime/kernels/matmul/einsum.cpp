// Lowers an Einsum of one or two tensors that passes/decompose has not replaced by a matrix product.
#include "graph/operators/matmul/einsum.hpp"

#include "kernels/framework/contract.hpp"
#include "kernels/framework/elements.hpp"

namespace vellum {

void lower_einsum(Lowering& lowering) {
  const auto inputs = operator_inputs(lowering);
  if (inputs.size() > 2) return lowering.run_on_host("Einsum of more than two tensors has no kernel");
  const Einsum::Loops loops = lowering.op<Einsum>().loops(inputs);
  Contraction c{{loops.output, loops.output_strides}, {loops.summed, loops.summed_strides}};
  // With a single tensor, operand 1 does not advance.
  c.kept.strides.resize(2, std::vector<int64_t>(loops.output.size(), 0));
  c.summed.strides.resize(2, std::vector<int64_t>(loops.summed.size(), 0));
  if (!fits_contract(c)) return lowering.run_on_host_for_rank();
  const TensorId a = lowering.read(0, Layout::linear);
  const TensorId b = inputs.size() > 1 ? lowering.read(1, Layout::linear) : kNoTensor;
  contract(lowering, a, b, lowering.write(0, Layout::linear), c);
}

}  // namespace vellum

#include "kernels/framework/contract.hpp"

#include "graph/operator_support.hpp"
#include "kernels/framework/elements.hpp"
#include "shaders/matmul/contract.h"

namespace vellum {

namespace {

constexpr size_t kMaxContractLoops = decltype(ContractParameters::dims)::size();

}  // namespace

bool fits_contract(const Contraction& c) {
  return collapse(c.kept).dims.size() + collapse(c.summed).dims.size() <= kMaxContractLoops;
}

void contract(Lowering& lowering, TensorId a, TensorId b, TensorId y, const Contraction& c) {
  LoopNest nest = collapse(c.kept);
  const LoopNest summed = collapse(c.summed);
  const int64_t count = element_count(nest.dims);
  const auto kept = static_cast<int64_t>(nest.dims.size());
  nest.dims.insert(nest.dims.end(), summed.dims.begin(), summed.dims.end());
  for (size_t k = 0; k < 2; ++k)
    nest.strides[k].insert(nest.strides[k].end(), summed.strides[k].begin(), summed.strides[k].end());
  std::vector<Binding> bindings{reads("a", a), writes("y", y)};
  if (b != kNoTensor) bindings.insert(bindings.begin() + 1, reads("b", b));
  Dispatch dispatch =
      make_dispatch("contract", grid_1d(lowering.caps(), (count + 3) / 4), std::move(bindings),
                    ContractParameters{.count = count,
                                       .kept_and_rank = kept + 256 * static_cast<int64_t>(nest.dims.size()),
                                       .dims = nest.dims,
                                       .a_strides = nest.strides[0],
                                       .b_strides = nest.strides[1]});
  dispatch.macs = static_cast<uint64_t>(count * element_count(summed.dims));
  if (b != kNoTensor) define(dispatch, "PAIR");
  define_element(dispatch, lowering.tensor(y));
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

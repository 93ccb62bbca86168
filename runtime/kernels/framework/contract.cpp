#include "kernels/framework/contract.hpp"

#include "graph/operator_support.hpp"
#include "kernels/framework/contract_tile.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "shaders/matmul/contract.h"

namespace vellum {

namespace {

constexpr size_t kMaxContractLoops = decltype(ContractParameters::dims)::size();

// Returns the iterations of an invocation. For each run of the innermost summed loop, or with `shares` for
// each term, a loop over the dimensions computes the offsets.
uint64_t iterations_of(const Shape& summed, bool shares) {
  const uint64_t offsets = loop_iterations(static_cast<int64_t>(summed.size()));
  const int64_t length = element_count(summed);
  if (shares) return kShortLoops + loop_iterations(length / kRowWorkgroup + 1, offsets);
  const int64_t last = summed.empty() ? 1 : summed.back();
  return kShortLoops + loop_iterations(last == 0 ? 0 : length / last, offsets + loop_iterations(last));
}

}  // namespace

bool fits_contract(const Contraction& c) {
  return collapse(c.kept).dims.size() + collapse(c.summed).dims.size() <= kMaxContractLoops;
}

void contract(Lowering& lowering, TensorId a, TensorId b, TensorId y, const Contraction& c) {
  if (b != kNoTensor && contract_by_tiles(lowering, a, b, y, c)) return;
  LoopNest nest = collapse(c.kept);
  const LoopNest summed = collapse(c.summed);
  const int64_t count = element_count(nest.dims);
  const auto kept = static_cast<int64_t>(nest.dims.size());
  nest.dims.insert(nest.dims.end(), summed.dims.begin(), summed.dims.end());
  for (size_t k = 0; k < 2; ++k)
    nest.strides[k].insert(nest.strides[k].end(), summed.strides[k].begin(), summed.strides[k].end());
  std::vector<Binding> bindings{reads("a", a), writes("y", y)};
  if (b != kNoTensor) bindings.insert(bindings.begin() + 1, reads("b", b));
  // A workgroup shares long sums.
  const int64_t length = element_count(summed.dims), groups = (count + 3) / 4;
  const bool shares = length > most_rounds_alone(lowering.caps());
  Dispatch dispatch = make_dispatch(
      "contract", shares ? workgroups_in_a_row(lowering.caps(), groups) : grid_1d(lowering.caps(), groups),
      std::move(bindings),
      ContractParameters{.count = count,
                         .kept_and_rank = kept + 256 * static_cast<int64_t>(nest.dims.size()),
                         .dims = nest.dims,
                         .a_strides = nest.strides[0],
                         .b_strides = nest.strides[1]});
  dispatch.macs = static_cast<uint64_t>(count * length);
  dispatch.iterations = iterations_of(summed.dims, shares);
  if (shares) define(dispatch, "COOPERATIVE");
  if (b != kNoTensor) define(dispatch, "PAIR");
  define_element(dispatch, lowering.tensor(y));
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

// Lowers Where.
#include "graph/operators/elementwise/select.hpp"

#include "kernels/framework/elements.hpp"
#include "kernels/framework/strided.hpp"
#include "shaders/elementwise/where.h"

namespace vellum {

namespace {

constexpr size_t kMaxRank = decltype(WhereParameters::dims)::size();

}  // namespace

void lower_where(Lowering& lowering) {
  const Shape& shape = lowering.output_type().shape;
  LoopNest nest{shape, {}};
  for (size_t i = 0; i < 3; ++i)
    nest.strides.push_back(broadcast_strides(lowering.input_type(i).shape, shape));
  nest = collapse(nest);
  if (nest.dims.size() > kMaxRank) return lowering.run_on_host_for_rank();
  std::vector<Binding> bindings;
  for (const std::string name : {"condition", "a", "b"}) {
    const size_t i = bindings.size();
    const TensorId x = lowering.read(i, Layout::linear);
    bindings.push_back(lowering.input_type(i).shape == shape ? reads_in_place(name, x) : reads(name, x));
  }
  const TensorId y = lowering.write(0, Layout::linear);
  bindings.push_back(writes("y", y));
  Dispatch dispatch =
      make_dispatch("where", grid_1d(lowering.caps(), groups_of_four(shape)), std::move(bindings),
                    WhereParameters{.count = element_count(shape),
                                    .rank = nest.dims.size(),
                                    .dims = nest.dims,
                                    .condition_strides = nest.strides[0],
                                    .a_strides = nest.strides[1],
                                    .b_strides = nest.strides[2]});
  define_element(dispatch, lowering.tensor(y));
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

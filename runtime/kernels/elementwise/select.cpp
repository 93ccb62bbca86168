// Where.
#include "graph/operators/select.hpp"

#include "kernels/framework/elements.hpp"
#include "kernels/movement/strided.hpp"

namespace vellum {

namespace {

constexpr size_t kMaxRank = 6;  // of the loops in where.comp

}  // namespace

void lower_where(Lowering& lowering) {
  const Shape& shape = lowering.output_type().shape;
  LoopNest nest{shape, {}};
  for (size_t i = 0; i < 3; ++i)
    nest.strides.push_back(broadcast_strides(lowering.input_type(i).shape, shape));
  nest = collapse(nest);
  if (nest.dims.size() > kMaxRank) return lowering.run_on_host("Where of so many dimensions has no kernel");
  std::vector<Binding> bindings;
  for (size_t i = 0; i < 3; ++i) {
    const TensorId x = lowering.read(i, Layout::linear);
    bindings.push_back(lowering.input_type(i).shape == shape ? reads_in_place(x) : reads(x));
  }
  const TensorId y = lowering.write(0, Layout::linear);
  bindings.push_back(writes(y));
  PushConstants constants;
  constants.ints({element_count(shape), static_cast<int64_t>(nest.dims.size())});
  push_padded(constants, nest.dims, kMaxRank);
  for (const auto& strides : nest.strides) push_padded(constants, strides, kMaxRank);
  Dispatch dispatch =
      make_dispatch("where", grid_1d(lowering.caps(), groups_of_four(shape)), std::move(bindings), constants);
  define_element(dispatch, lowering.tensor(y));
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

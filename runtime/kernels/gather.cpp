// Gather, Expand and Tile.
#include "graph/gather.hpp"

#include "kernels/elements.hpp"
#include "kernels/strided.hpp"

namespace vellum {

void lower_gather(Lowering& lowering) {
  const Shape &shape = lowering.input_type(0).shape, &result = lowering.output_type().shape;
  const size_t axis = normalize_axis(lowering.op<Gather>().axis, shape.size());
  // The host would refuse an index out of range; the kernel only keeps clear of it.
  if (const HostTensor* indices = lowering.constant(1))
    for (int64_t index : indices->to_ints()) checked_index(index, shape[axis]);
  const TensorId x = lowering.read(0, Layout::linear), indices = lowering.read(1, Layout::linear);
  const TensorId y = lowering.write(0, Layout::linear);
  PushConstants constants;
  constants.ints({element_count(result), shape[axis], element_count(lowering.input_type(1).shape),
                  product(shape, axis + 1, shape.size())});
  Dispatch dispatch = make_dispatch("gather", grid_1d(lowering.caps(), groups_of_four(result)),
                                    {reads(x), reads(indices), writes(y)}, constants);
  define_element(dispatch, lowering.tensor(y));
  lowering.dispatch(std::move(dispatch));
}

void lower_expand(Lowering& lowering) {
  const auto strides = broadcast_strides(lowering.input_type(0).shape, lowering.output_type().shape);
  if (!strided_copy(lowering, 0, strides, 0))
    lowering.run_on_host("Expand of so many dimensions has no kernel");
}

void lower_tile(Lowering& lowering) {
  const Shape &shape = lowering.input_type(0).shape, &result = lowering.output_type().shape;
  const std::vector<int64_t> strides = row_major_strides(shape);
  LoopNest nest{{}, {{}}};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    nest.dims.push_back(result[axis] / shape[axis]);
    nest.strides[0].push_back(0);
    nest.dims.push_back(shape[axis]);
    nest.strides[0].push_back(strides[axis]);
  }
  if (!strided_copy(lowering, 0, nest, 0)) lowering.run_on_host("Tile of so many dimensions has no kernel");
}

}  // namespace vellum

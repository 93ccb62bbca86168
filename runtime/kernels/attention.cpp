// Attention.
#include "graph/attention.hpp"

#include "kernels/conv_weights.hpp"
#include "kernels/elements.hpp"

namespace vellum {
namespace {

// Q, K and V as rows of one grid of texels (shaders/attention_pack.comp).
struct OperandGrid {
  TensorId tensor = kNoTensor;
  int64_t width = 0, k_row = 0, v_row = 0;
};

int64_t rows_of(const StridedView& view) { return view.shape[1] * slices(view.shape[3]); }

void pack_operand(Lowering& lowering, const OperandGrid& grid, size_t input, const StridedView& view,
                  int64_t row, int64_t parts, int64_t part_stride) {
  const Shape& grid_shape = lowering.tensor(grid.tensor).desc.shape;
  PushConstants constants;
  constants.shape(grid_shape)
      .ivec4(view.shape[2], view.shape[1], view.shape[3], view.shape[0])
      .ivec4(view.strides[2], view.strides[1], view.strides[3], view.strides[0])
      .ints({view.offset, parts, part_stride, row});
  const int64_t texels = parts * rows_of(view) * view.shape[0] * view.shape[2];
  lowering.dispatch(make_dispatch("attention_pack", grid_1d(lowering.caps(), texels),
                                  {reads(lowering.read(input, Layout::linear)), writes(grid.tensor)},
                                  constants));
}

// Whether one dispatch can pack all three: alike in all but their places, which are evenly apart in one
// tensor.
bool evenly_apart(const Node& node, const Attention::Operands& o) {
  const auto alike = [&](const StridedView& a) { return a.shape == o.q.shape && a.strides == o.q.strides; };
  return node.inputs[0] == node.inputs[1] && node.inputs[1] == node.inputs[2] && alike(o.k) && alike(o.v) &&
         o.k.offset - o.q.offset == o.v.offset - o.k.offset;
}

OperandGrid pack_operands(Lowering& lowering, const Attention::Operands& o) {
  OperandGrid grid;
  grid.width = o.q.shape[0] * std::max(o.q.shape[2], o.k.shape[2]);
  grid.k_row = rows_of(o.q);
  grid.v_row = grid.k_row + rows_of(o.k);
  grid.tensor = lowering.workspace(lowering.node().name + "/operands",
                                   weight_grid(lowering, grid.width, grid.v_row + rows_of(o.v)));
  if (evenly_apart(lowering.node(), o)) {
    pack_operand(lowering, grid, 0, o.q, 0, 3, o.k.offset - o.q.offset);
  } else {
    pack_operand(lowering, grid, 0, o.q, 0, 1, 0);
    pack_operand(lowering, grid, 1, o.k, grid.k_row, 1, 0);
    pack_operand(lowering, grid, 2, o.v, grid.v_row, 1, 0);
  }
  return grid;
}

// Sums that invocations hold. CPU drivers spill registers to a cache that is faster than a load from a
// tensor, GPUs to memory; but a CPU driver takes a second to compile twice as many.
int64_t tile_of_queries(const DeviceCaps& caps, int64_t queries, int64_t v_slices) {
  const int64_t sums = caps.type == DeviceType::cpu ? 32 : 16;
  int64_t tile = 1;
  while (2 * tile * v_slices <= sums && tile < 8 && tile < queries) tile *= 2;
  return tile;
}

}  // namespace

void lower_attention(Lowering& lowering) {
  std::vector<OperatorInput> inputs;
  for (size_t i = 0; i < lowering.node().inputs.size(); ++i)
    inputs.push_back(lowering.has_input(i) ? OperatorInput{true, lowering.input_type(i), nullptr}
                                           : OperatorInput{});
  const Attention& op = lowering.op<Attention>();
  const Attention::Operands o = op.operands(inputs);
  const int64_t heads = o.q.shape[1], queries = o.q.shape[2], keys = o.k.shape[2], channels = o.v.shape[3];
  if (channels > Attention::kMostChannels || element_count(o.output) == 0 || keys == 0)
    return lowering.run_on_host("attention of so many channels, or none, has no kernel");
  const OperandGrid grid = pack_operands(lowering, o);

  PushConstants constants;
  constants.ivec4(queries, heads, keys, o.q.shape[0]);
  std::vector<int64_t> mask_strides(4, 0);
  if (lowering.has_input(3))
    mask_strides = broadcast_strides(lowering.input_type(3).shape, {o.q.shape[0], heads, queries, keys});
  constants.ivec4(mask_strides[0], mask_strides[1], mask_strides[2], mask_strides[3]);
  constants.ivec4(heads * queries * channels, o.tokens_first ? channels : queries * channels,
                  o.tokens_first ? heads * channels : channels, 0);
  constants.ivec4(grid.k_row, grid.v_row, grid.width, heads / o.k.shape[1]);
  constants.floats({o.scale}).ints({slices(o.q.shape[3])});

  const int64_t tile = tile_of_queries(lowering.caps(), queries, slices(channels));
  const TensorId y = lowering.write(0, Layout::linear);
  // Channels that do not fill up groups of four are stored one by one, which halves cannot be.
  const bool scalars = channels % 4 != 0;
  TensorId target = y;
  if (scalars && lowering.tensor(y).desc.element == ElementType::f16)
    target =
        lowering.workspace(lowering.node().name + "/result",
                           {lowering.output_type().shape, ElementType::f32, Storage::buffer, Layout::linear});
  Dispatch dispatch =
      make_dispatch("attention", grid_1d(lowering.caps(), divide_up(queries, tile) * heads * o.q.shape[0]),
                    {reads(grid.tensor)}, constants);
  if (lowering.has_input(3)) {
    dispatch.bindings.push_back(reads(lowering.read(3, Layout::linear)));
    define(dispatch, "MASK");
    if (lowering.input_type(3).dtype == DType::boolean) define(dispatch, "MASK_BOOLEAN");
  }
  dispatch.bindings.push_back(writes(target));
  if (op.causal) define(dispatch, "CAUSAL");
  if (scalars) {
    define(dispatch, "Y_SCALARS");
    define(dispatch, "LAST_CHANNELS", std::to_string(channels % 4));
  }
  define(dispatch, "TILE_Q", std::to_string(tile));
  define(dispatch, "V_SLICES", std::to_string(slices(channels)));
  lowering.dispatch(std::move(dispatch));
  if (target != y) {
    const int64_t count4 = groups_of_four(lowering.output_type().shape);
    lowering.dispatch(make_dispatch("copy_linear", grid_1d(lowering.caps(), count4),
                                    {reads(target), writes(y)}, PushConstants().ints({count4})));
  }
}

}  // namespace vellum

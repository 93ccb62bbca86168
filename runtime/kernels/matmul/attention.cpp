// Lowers Attention: gathers Q, K and V into one grid unless the kernel can read them in place, and computes
// the attention in one dispatch, or in several that split the keys.
#include "graph/operators/matmul/attention.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cost/device_traits.hpp"
#include "cost/subgroups.hpp"
#include "kernels/conv/weights.hpp"
#include "kernels/elementwise/elementwise.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/matmul/key_split.hpp"
#include "program/divide.hpp"
#include "shaders/matmul/attention.h"
#include "shaders/matmul/attention_cache.h"
#include "shaders/matmul/attention_matrices.h"
#include "shaders/matmul/attention_merge.h"
#include "shaders/matmul/attention_pack.h"
#include "shaders/movement/copy_linear.h"

namespace vellum {
namespace {

// Q, K and V as rows of one grid of texels (shaders/matmul/attention_pack.comp).
struct OperandGrid {
  TensorId tensor = kNoTensor;
  int64_t width = 0, k_row = 0, v_row = 0;
};

int64_t rows_of(const StridedView& view) { return view.shape[1] * slices(view.shape[3]); }

// Gathers `operands` operands, `operand_stride` elements apart in the input, into the grid from `row` on.
void pack_into(Lowering& lowering, const OperandGrid& grid, size_t input, const StridedView& view,
               int64_t row, int64_t operands, int64_t operand_stride) {
  const int64_t texels = operands * rows_of(view) * view.shape[0] * view.shape[2];
  lowering.dispatch(
      make_dispatch("attention_pack", grid_1d(lowering.caps(), texels),
                    {reads("x", lowering.read(input, Layout::linear)), writes("y", grid.tensor)},
                    AttentionPackParameters{.y_shape = texel_shape(lowering.tensor(grid.tensor).desc.shape),
                                            .tokens = view.shape[2],
                                            .heads = view.shape[1],
                                            .channels = view.shape[3],
                                            .images = view.shape[0],
                                            .token_stride = view.strides[2],
                                            .head_stride = view.strides[1],
                                            .channel_stride = view.strides[3],
                                            .image_stride = view.strides[0],
                                            .base = view.offset,
                                            .operands = operands,
                                            .operand_stride = operand_stride,
                                            .first_row = row}));
}

// Returns whether one dispatch can gather Q, K and V: they are views of one tensor with equal shapes and
// strides, at equal distances.
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
    pack_into(lowering, grid, 0, o.q, 0, 3, o.k.offset - o.q.offset);
  } else {
    pack_into(lowering, grid, 0, o.q, 0, 1, 0);
    pack_into(lowering, grid, 1, o.k, grid.k_row, 1, 0);
    pack_into(lowering, grid, 2, o.v, grid.v_row, 1, 0);
  }
  return grid;
}

// Returns the queries of one invocation: the most whose sums fit in registers while there are enough
// invocations to keep the device busy. `heads`: of all images together.
int64_t tile_of_queries(const DeviceCaps& caps, int64_t queries, int64_t heads, int64_t v_slices) {
  const int64_t sums = device_traits(caps).most_attention_sums, enough = invocations_to_fill(caps);
  int64_t tile = 1;
  while (2 * tile * v_slices <= sums && tile < 8 && tile < queries &&
         divide_up(queries, 2 * tile) * heads >= enough)
    tile *= 2;
  return tile;
}

// --- Q, K and V in place, in matrices of tokens ---

// Q, K or V: the rows of the matrix are tokens, and a head is a range of columns.
struct MatrixOperand {
  int64_t first = 0, head = 0;   // slices: of the first head, from one to the next
  int64_t image = 0, token = 0;  // rows from one to the next
};

std::optional<MatrixOperand> in_matrix(const Lowering& lowering, size_t input, const StridedView& view) {
  const Shape& shape = lowering.input_type(input).shape;
  if (shape.size() != 2 || shape[1] % 4 != 0 || lowering.constant(input)) return std::nullopt;
  const int64_t width = shape[1], channels = view.shape[3];
  const auto stride = [&](size_t axis) { return view.shape[axis] == 1 ? 0 : view.strides[axis]; };
  const auto whole_rows = [&](int64_t step) { return step >= 0 && step % width == 0; };
  const auto whole_slices = [](int64_t count) { return count >= 0 && count % 4 == 0; };
  if (view.strides[3] != 1 || !whole_slices(channels) || !whole_slices(view.offset) ||
      !whole_slices(stride(1)))
    return std::nullopt;
  if (!whole_rows(stride(0)) || !whole_rows(stride(2))) return std::nullopt;
  if (view.offset + (view.shape[1] - 1) * stride(1) + channels > width) return std::nullopt;
  return MatrixOperand{view.offset / 4, stride(1) / 4, stride(0) / width, stride(2) / width};
}

struct MatrixOperands {
  MatrixOperand q, k, v;
  bool separate = false;  // in three tensors
};

// Returns the number of bindings besides Q, K and V: the mask, the lengths, the roundings and the result.
uint32_t other_bindings(const Lowering& lowering) {
  const bool rounds = lowering.op<Attention>().weight_rounding.is_rounded();
  return (lowering.has_input(3) ? 1 : 0) + (lowering.has_input(4) ? 1 : 0) + (rounds ? 1 : 0) + 1;
}

// Returns whether the kernel reads K and V in place because they are caches. A cache is long, and the kernel
// reads only a part of it.
bool reads_caches(const Lowering& lowering, const Attention::Operands& o) {
  if (!lowering.has_input(4)) return false;
  const auto has_whole_slices = [](const StridedView& view) {
    const auto is_whole = [](int64_t count) { return count >= 0 && count % 4 == 0; };
    return view.offset == 0 && view.strides[3] == 1 && view.shape[3] % 4 == 0 &&
           std::all_of(view.strides.begin(), view.strides.begin() + 3, is_whole);
  };
  return has_whole_slices(o.q) && has_whole_slices(o.k) && has_whole_slices(o.v) &&
         3 + other_bindings(lowering) <= lowering.caps().max_storage_buffers_per_stage;
}

// Returns Q, K and V in place. Returns nothing if they must be gathered, because of their layout or because
// the device has too few bindings.
std::optional<MatrixOperands> in_matrices(const Lowering& lowering, const Attention::Operands& o) {
  const auto q = in_matrix(lowering, 0, o.q), k = in_matrix(lowering, 1, o.k),
             v = in_matrix(lowering, 2, o.v);
  if (!q || !k || !v || k->image != v->image || k->token != v->token) return std::nullopt;
  if (lowering.input_type(1).shape[0] != lowering.input_type(2).shape[0]) return std::nullopt;
  const auto& inputs = lowering.node().inputs;
  const bool separate = inputs[0] != inputs[1] || inputs[1] != inputs[2];
  const uint32_t bindings = (separate ? 3 : 1) + other_bindings(lowering);
  if (bindings > lowering.caps().max_storage_buffers_per_stage) return std::nullopt;
  return MatrixOperands{*q, *k, *v, separate};
}

// Returns whether Y is a matrix of tokens in which each head has whole texels.
bool gives_matrix(const Attention::Operands& o) {
  return o.tokens_first && o.output.size() == 2 && o.v.shape[3] % 4 == 0 &&
         o.output[1] == o.q.shape[1] * o.v.shape[3];
}

// The run of fp16 sums of weights times values: the kernel takes four keys at a time.
constexpr ProductRun kRunOfKeys{4, 1};

// Parameters that all variants of the shader have: sizes, and strides along images, heads, queries and keys.
struct CommonParameters {
  int64_t images, heads, queries, keys, heads_per_kv, depth_slices;
  std::vector<int64_t> mask_strides, y_strides;
};

CommonParameters common_parameters(const Lowering& lowering, const Attention::Operands& o) {
  const int64_t images = o.q.shape[0], heads = o.q.shape[1], queries = o.q.shape[2], keys = o.k.shape[2],
                channels = o.v.shape[3];
  CommonParameters result{images, heads, queries, keys, heads / o.k.shape[1], slices(o.q.shape[3]), {}, {}};
  result.mask_strides.assign(4, 0);
  if (lowering.has_input(3))
    result.mask_strides = broadcast_strides(lowering.input_type(3).shape, {images, heads, queries, keys});
  result.y_strides = {heads * queries * channels, o.tokens_first ? channels : queries * channels,
                      o.tokens_first ? heads * channels : channels};
  return result;
}

// The work of an invocation: its queries, the split of the keys across workgroups, the invocations of a
// workgroup that share the keys, and the slices of Q and K that are loaded together.
struct AttentionTile {
  int64_t queries = 1;
  KeySplit split;
  int64_t sharers = 1;
  int64_t ahead = 1;
};

// Returns the loop iterations for four keys: one for each `ahead` slices of Q and K, one for each remaining
// slice, and a loop over the keys (KEY_BY_KEY).
uint64_t iterations_of_four_keys(int64_t depth_slices, int64_t ahead) {
  constexpr uint64_t kKeyByKey = 5;
  const uint64_t one_by_one = loop_iterations(ahead > 1 ? depth_slices % ahead : depth_slices);
  return 1 + one_by_one + (ahead > 1 ? loop_iterations(depth_slices / ahead) : 0) + kKeyByKey;
}

// Returns how many keys an invocation can process before the driver ends its loops.
int64_t most_keys(const DeviceCaps& caps, int64_t depth_slices, int64_t ahead) {
  const uint64_t most = std::max<uint64_t>(caps.max_loop_iterations, 2 * kShortLoops) - kShortLoops;
  return 4 * static_cast<int64_t>(most / iterations_of_four_keys(depth_slices, ahead));
}

// Returns the tile. If one invocation cannot process all keys, it first loads more slices together, which
// takes fewer iterations. Only then are the keys split, because partial results take memory.
AttentionTile tile_of(const DeviceCaps& caps, const Attention::Operands& o) {
  const int64_t heads = o.q.shape[0] * o.q.shape[1], queries = o.q.shape[2], v_slices = slices(o.v.shape[3]);
  const int64_t keys = o.k.shape[2], depth_slices = slices(o.q.shape[3]);
  const int64_t tile = tile_of_queries(caps, queries, heads, v_slices);
  constexpr int64_t kMostAhead = 8;
  int64_t ahead = device_traits(caps).attention_slices_ahead;
  while (ahead < kMostAhead && 2 * ahead <= depth_slices && keys > most_keys(caps, depth_slices, ahead))
    ahead *= 2;
  const KeySplit split =
      key_split(caps, divide_up(queries, tile) * heads, keys, heads * queries * (v_slices + 1) * 16,
                most_keys(caps, depth_slices, ahead));
  const KeySharing sharing = key_sharing(caps, queries * heads, keys);
  // Partial results that a workgroup merges need neither memory nor another dispatch.
  if (tile == 1 && sharing.invocations > 1 && sharing.invocations >= split.parts)
    return {tile, {1, sharing.keys}, sharing.invocations, ahead};
  return {tile, split, 1, ahead};
}

// Returns a dispatch of attention.comp without parameters and bindings.
Dispatch start(Lowering& lowering, const Attention::Operands& o, const AttentionTile& tile) {
  const int64_t heads = o.q.shape[0] * o.q.shape[1], channels = o.v.shape[3];
  const int64_t invocations = divide_up(o.q.shape[2], tile.queries) * heads * tile.split.parts;
  const Grid grid =
      tile.sharers > 1
          ? workgroups_in_a_row(lowering.caps(), divide_up(invocations * tile.sharers, kRowWorkgroup))
          : grid_1d(lowering.caps(), invocations);
  Dispatch dispatch = make_dispatch("attention", grid, {}, {});
  dispatch.macs = lowering.macs();
  define(dispatch, "TILE_Q", std::to_string(tile.queries));
  define(dispatch, "V_SLICES", std::to_string(slices(channels)));
  if (tile.split.is_split()) define(dispatch, "SPLIT_KEYS");
  if (tile.sharers > 1) define(dispatch, "SHARE_KEYS", std::to_string(tile.sharers));
  if (tile.ahead > 1) define(dispatch, "AHEAD", std::to_string(tile.ahead));
  dispatch.iterations =
      kShortLoops + loop_iterations(divide_up(tile.split.keys, 4),
                                    iterations_of_four_keys(slices(o.q.shape[3]), tile.ahead) - 1);
  constexpr int64_t kManySlices = 8;  // of values, for the registers
  if (slices(channels) >= kManySlices && device_traits(lowering.caps()).attention_key_by_key)
    define(dispatch, "KEY_BY_KEY");
  if (lowering.op<Attention>().causal) define(dispatch, "CAUSAL");
  return dispatch;
}

void bind_operands(Lowering& lowering, Dispatch& dispatch, const Attention::Operands& o,
                   const KeySplit& split) {
  const OperandGrid grid = pack_operands(lowering, o);
  dispatch.bindings = {reads("grid", grid.tensor)};
  const CommonParameters common = common_parameters(lowering, o);
  dispatch.push_constants = AttentionParameters{.queries = common.queries,
                                                .heads = common.heads,
                                                .keys = common.keys,
                                                .images = common.images,
                                                .mask_image_stride = common.mask_strides[0],
                                                .mask_head_stride = common.mask_strides[1],
                                                .mask_query_stride = common.mask_strides[2],
                                                .mask_key_stride = common.mask_strides[3],
                                                .y_image_stride = common.y_strides[0],
                                                .y_head_stride = common.y_strides[1],
                                                .y_query_stride = common.y_strides[2],
                                                .k_row = grid.k_row,
                                                .v_row = grid.v_row,
                                                .grid_width = grid.width,
                                                .heads_per_kv = common.heads_per_kv,
                                                .depth_slices = common.depth_slices,
                                                .key_parts = split.parts,
                                                .part_keys = split.keys,
                                                .scale = o.scale};
}

// The strides of images, heads and tokens.
std::vector<int64_t> slice_strides(const StridedView& view) {
  return {view.strides[0] / 4, view.strides[1] / 4, view.strides[2] / 4};
}

void bind_caches(Lowering& lowering, Dispatch& dispatch, const Attention::Operands& o,
                 const KeySplit& split) {
  constexpr const char* names[] = {"q", "k", "v"};
  for (size_t i = 0; i < 3; ++i)
    dispatch.bindings.push_back(reads(names[i], lowering.read(i, Layout::linear)));
  define(dispatch, "CACHE");
  const CommonParameters common = common_parameters(lowering, o);
  const std::vector<int64_t> q = slice_strides(o.q), k = slice_strides(o.k), v = slice_strides(o.v);
  dispatch.push_constants = AttentionCacheParameters{.queries = common.queries,
                                                     .heads = common.heads,
                                                     .keys = common.keys,
                                                     .images = common.images,
                                                     .mask_image_stride = common.mask_strides[0],
                                                     .mask_head_stride = common.mask_strides[1],
                                                     .mask_query_stride = common.mask_strides[2],
                                                     .mask_key_stride = common.mask_strides[3],
                                                     .y_image_stride = common.y_strides[0],
                                                     .y_head_stride = common.y_strides[1],
                                                     .y_query_stride = common.y_strides[2],
                                                     .q_image_stride = q[0],
                                                     .q_head_stride = q[1],
                                                     .q_token_stride = q[2],
                                                     .k_image_stride = k[0],
                                                     .k_head_stride = k[1],
                                                     .k_token_stride = k[2],
                                                     .v_image_stride = v[0],
                                                     .v_head_stride = v[1],
                                                     .v_token_stride = v[2],
                                                     .heads_per_kv = common.heads_per_kv,
                                                     .depth_slices = common.depth_slices,
                                                     .key_parts = split.parts,
                                                     .part_keys = split.keys,
                                                     .scale = o.scale};
}

void bind_lengths(Lowering& lowering, Dispatch& dispatch) {
  define(dispatch, "LENGTHS");
  if (const int64_t window = lowering.op<Attention>().window; window > 0)
    define(dispatch, "WINDOW", std::to_string(window));
  dispatch.bindings.push_back(reads("lengths", lowering.read(4, Layout::linear)));
}

void bind_matrices(Lowering& lowering, Dispatch& dispatch, const Attention::Operands& o,
                   const MatrixOperands& m, const KeySplit& split) {
  constexpr const char* names[] = {"q", "k", "v"};
  for (size_t i = 0; i < (m.separate ? 3 : 1); ++i)
    dispatch.bindings.push_back(reads(names[i], lowering.read(i, Layout::channels4)));
  define(dispatch, "MATRICES");
  if (m.separate) define(dispatch, "SEPARATE");
  const auto width = [&](size_t i) { return slices(lowering.input_type(i).shape[1]); };
  const auto tokens = [&](size_t i) { return lowering.input_type(i).shape[0]; };
  const CommonParameters common = common_parameters(lowering, o);
  dispatch.push_constants = AttentionMatricesParameters{.queries = common.queries,
                                                        .heads = common.heads,
                                                        .keys = common.keys,
                                                        .images = common.images,
                                                        .mask_image_stride = common.mask_strides[0],
                                                        .mask_head_stride = common.mask_strides[1],
                                                        .mask_query_stride = common.mask_strides[2],
                                                        .mask_key_stride = common.mask_strides[3],
                                                        .y_image_stride = common.y_strides[0],
                                                        .y_head_stride = common.y_strides[1],
                                                        .y_query_stride = common.y_strides[2],
                                                        .q_row = m.q.first,
                                                        .k_row = m.k.first,
                                                        .v_row = m.v.first,
                                                        .q_head_rows = m.q.head,
                                                        .k_head_rows = m.k.head,
                                                        .v_head_rows = m.v.head,
                                                        .q_image_columns = m.q.image,
                                                        .kv_image_columns = m.k.image,
                                                        .q_token_columns = m.q.token,
                                                        .kv_token_columns = m.k.token,
                                                        .q_tokens = tokens(0),
                                                        .kv_tokens = tokens(1),
                                                        .q_slices = width(0),
                                                        .k_slices = width(1),
                                                        .v_slices = width(2),
                                                        .y_slices = slices(o.q.shape[1] * o.v.shape[3]),
                                                        .heads_per_kv = common.heads_per_kv,
                                                        .depth_slices = common.depth_slices,
                                                        .key_parts = split.parts,
                                                        .part_keys = split.keys,
                                                        .scale = o.scale};
}

// Binds what the scores and the weights are rounded to.
void bind_roundings(Lowering& lowering, Dispatch& dispatch) {
  const Attention& op = lowering.op<Attention>();
  TensorDesc desc = lowering.texel_grid(2, 1);
  desc.element = ElementType::f32;
  const auto values = [scores = op.score_rounding, weights = op.weight_rounding] {
    std::vector<float> texels;
    for (const Activation& rounding : {scores, weights})
      texels.insert(texels.end(), {rounding.step, rounding.least, rounding.most, 0.0f});
    return texels;
  };
  const TensorId roundings = lowering.weight(lowering.node().name + "/roundings", desc, values);
  dispatch.bindings.push_back(reads("roundings", roundings));
  if (are_wide_steps(op.score_rounding) || are_wide_steps(op.weight_rounding)) define(dispatch, "WIDE_STEPS");
}

// Returns a dispatch of attention_rounded.comp without parameters and bindings.
Dispatch start_rounded(Lowering& lowering, const Attention::Operands& o, int64_t queries) {
  const int64_t heads = o.q.shape[0] * o.q.shape[1];
  Dispatch dispatch = make_dispatch(
      "attention_rounded", grid_1d(lowering.caps(), divide_up(o.q.shape[2], queries) * heads), {}, {});
  dispatch.macs = lowering.macs();
  define(dispatch, "TILE_Q", std::to_string(queries));
  define(dispatch, "V_SLICES", std::to_string(slices(o.v.shape[3])));
  const uint64_t of_four_keys = loop_iterations(slices(o.q.shape[3]));
  dispatch.iterations = kShortLoops + 2 * loop_iterations(divide_up(o.k.shape[2], 4), of_four_keys);
  if (lowering.op<Attention>().causal) define(dispatch, "CAUSAL");
  return dispatch;
}

void bind_mask(Lowering& lowering, Dispatch& dispatch) {
  define(dispatch, "MASK");
  dispatch.bindings.push_back(reads("mask", lowering.read(3, Layout::linear)));
  if (lowering.input_type(3).dtype == DType::boolean) define(dispatch, "MASK_BOOLEAN");
}

// Binds the tensor that the kernel writes, and returns it: Y, or a tensor that is copied to Y afterwards.
TensorId bind_result(Lowering& lowering, Dispatch& dispatch, int64_t channels, TensorId y) {
  // Channels that are not whole texels are stored one by one, which is impossible for fp16 elements.
  const bool scalars = channels % 4 != 0;
  TensorId target = y;
  if (scalars && lowering.tensor(y).desc.element == ElementType::f16)
    target =
        lowering.workspace(lowering.node().name + "/result",
                           {lowering.output_type().shape, ElementType::f32, Storage::buffer, Layout::linear});
  dispatch.bindings.push_back(writes("y", target));
  if (lowering.tensor(y).desc.layout == Layout::channels4) define(dispatch, "Y_MATRIX");
  if (scalars) {
    define(dispatch, "Y_SCALARS");
    define(dispatch, "LAST_CHANNELS", std::to_string(channels % 4));
  }
  return target;
}

// Binds the partial results to `dispatch`, and returns the dispatch that merges them.
Dispatch merge_of_parts(Lowering& lowering, Dispatch& dispatch, const Attention::Operands& o,
                        const KeySplit& split) {
  const CommonParameters common = common_parameters(lowering, o);
  const int64_t rows = common.images * common.heads * common.queries, v_slices = slices(o.v.shape[3]);
  const TensorId partial = float_workspace(lowering, "partial", {rows, split.parts, 4 * (v_slices + 1)});
  dispatch.bindings.push_back(writes("partial", partial));
  Dispatch merge =
      make_dispatch("attention_merge", grid_1d(lowering.caps(), rows * v_slices), {reads("partial", partial)},
                    AttentionMergeParameters{.queries = common.queries,
                                             .heads = common.heads,
                                             .images = common.images,
                                             .key_parts = split.parts,
                                             .y_image_stride = common.y_strides[0],
                                             .y_head_stride = common.y_strides[1],
                                             .y_query_stride = common.y_strides[2],
                                             .y_slices = slices(common.heads * o.v.shape[3])});
  define(merge, "V_SLICES", std::to_string(v_slices));
  merge.iterations = 2 * loop_iterations(split.parts);
  return merge;
}

}  // namespace

void lower_attention(Lowering& lowering) {
  const Attention& op = lowering.op<Attention>();
  const Attention::Operands o = op.operands(operator_inputs(lowering));
  const int64_t channels = o.v.shape[3];
  if (channels > Attention::kMostChannels)
    return lowering.run_on_host("attention of " + std::to_string(channels) + " channels has no kernel");
  if (element_count(o.output) == 0 || o.k.shape[2] == 0)
    return lowering.run_on_host("attention without elements has no kernel");

  const bool caches = reads_caches(lowering, o);
  std::optional<MatrixOperands> matrices = caches ? std::nullopt : in_matrices(lowering, o);
  const std::vector<ParameterCandidate<bool>> candidates{{.name = {"matrices"}, .parameters = true},
                                                         {{"packed"}, kOnlyIfMeasured, false}};
  if (matrices && !lowering.best_of(candidates)) matrices.reset();
  const bool rounds = op.weight_rounding.is_rounded();
  AttentionTile tile = tile_of(lowering.caps(), o);
  if (rounds) tile = {.queries = tile.queries, .split = {1, o.k.shape[2]}};
  const bool fits_registers =
      tile.queries * slices(channels) <= device_traits(lowering.caps()).most_fp16_sums;
  const bool halves = !caches && !rounds && fits_registers && should_multiply_bounded_halves(lowering);
  Dispatch dispatch = rounds ? start_rounded(lowering, o, tile.queries) : start(lowering, o, tile);
  if (halves) define_halves(dispatch, kRunOfKeys);
  if (caches)
    bind_caches(lowering, dispatch, o, tile.split);
  else if (matrices)
    bind_matrices(lowering, dispatch, o, *matrices, tile.split);
  else
    bind_operands(lowering, dispatch, o, tile.split);
  if (lowering.has_input(3)) bind_mask(lowering, dispatch);
  if (lowering.has_input(4)) bind_lengths(lowering, dispatch);
  if (rounds) bind_roundings(lowering, dispatch);
  const TensorId y = lowering.write(0, matrices && gives_matrix(o) ? Layout::channels4 : Layout::linear);
  if (tile.split.is_split()) {
    Dispatch merge = merge_of_parts(lowering, dispatch, o, tile.split);
    lowering.dispatch(std::exchange(dispatch, std::move(merge)));
  }
  const TensorId target = bind_result(lowering, dispatch, channels, y);
  lowering.dispatch(std::move(dispatch));
  if (target == y) return;
  const int64_t count4 = groups_of_four(lowering.output_type().shape);
  lowering.dispatch(make_dispatch("copy_linear", grid_1d(lowering.caps(), count4),
                                  {reads("x", target), writes("y", y)},
                                  CopyLinearParameters{.count4 = count4}));
}

}  // namespace vellum

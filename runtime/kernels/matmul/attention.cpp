// Lowers Attention: gathers Q, K and V into one grid unless the kernel can read them in place, and computes
// the attention in one dispatch, or in several that split the keys.
#include "graph/operators/matmul/attention.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "cost/device_traits.hpp"
#include "kernels/conv/product_run.hpp"
#include "kernels/elementwise/elementwise.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/framework/step_rounding.hpp"
#include "kernels/matmul/attention_operands.hpp"
#include "kernels/matmul/attention_tile.hpp"
#include "program/divide.hpp"
#include "shaders/matmul/attention_merge.h"
#include "shaders/movement/copy_linear.h"

namespace vellum {
namespace {

// Returns whether Y is a matrix of tokens in which each head has whole texels.
bool gives_matrix(const Attention::Operands& o) {
  return o.tokens_first && o.output.size() == 2 && o.v.shape[3] % 4 == 0 &&
         o.output[1] == o.q.shape[1] * o.v.shape[3];
}

// The run of fp16 sums of weights times values: the kernel takes four keys at a time.
constexpr ProductRun kRunOfKeys{4, 1};

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
  const DeviceTraits traits = device_traits(lowering.caps());
  if (slices(channels) >= kManySlices && traits.attention_key_by_key) define(dispatch, "KEY_BY_KEY");
  if (!traits.contracts_beside_infinities) define(dispatch, "FMA");
  const Attention& op = lowering.op<Attention>();
  if (op.causal) define(dispatch, "CAUSAL");
  if (op.softcap != 0.0f)
    define(dispatch, "SOFTCAP",
           "uintBitsToFloat(" + std::to_string(std::bit_cast<uint32_t>(op.softcap)) + "u)");
  return dispatch;
}

void bind_sinks(Lowering& lowering, Dispatch& dispatch) {
  define(dispatch, "SINKS");
  dispatch.bindings.push_back(reads("sinks", lowering.read(5, Layout::linear)));
}

void bind_lengths(Lowering& lowering, Dispatch& dispatch) {
  define(dispatch, "LENGTHS");
  if (const int64_t window = lowering.op<Attention>().window; window > 0)
    define(dispatch, "WINDOW", std::to_string(window));
  dispatch.bindings.push_back(reads("lengths", lowering.read(4, Layout::linear)));
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
  define_steps(dispatch, {result_steps(op.score_rounding), result_steps(op.weight_rounding)});
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

// Returns the sum of the mask and the key bias.
TensorId mask_with_key_bias(Lowering& lowering) {
  const Shape shape = mask_shape(lowering);
  const TensorId mask = lowering.read(3, Layout::linear), bias = lowering.read(6, Layout::linear);
  const TensorId sum =
      lowering.workspace(lowering.node().name + "/mask",
                         {shape, lowering.tensor(mask).desc.element, Storage::buffer, Layout::linear});
  combine(lowering, "Add", {}, Layout::linear, {mask, padded_to_rank(lowering.input_type(3).shape, 4)},
          {bias, lowering.input_type(6).shape}, {sum, shape});
  return sum;
}

void bind_mask(Lowering& lowering, Dispatch& dispatch) {
  define(dispatch, "MASK");
  if (adds_key_bias_to_mask(lowering)) {
    dispatch.bindings.push_back(reads("mask", mask_with_key_bias(lowering)));
    return;
  }
  dispatch.bindings.push_back(reads("mask", lowering.read(3, Layout::linear)));
  if (lowering.input_type(3).dtype == DType::boolean) define(dispatch, "MASK_BOOLEAN");
  if (!lowering.has_input(6)) return;
  define(dispatch, "KEY_BIAS");
  dispatch.bindings.push_back(reads("key_bias", lowering.read(6, Layout::linear)));
  if (lowering.input_type(6).shape[0] > 1) define(dispatch, "BIAS_OF_IMAGES");
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
  const AttentionSizes common = attention_sizes(lowering, o);
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
  std::optional<MatrixOperands> matrices = caches ? std::nullopt : operands_in_place(lowering, o);
  const std::vector<ParameterCandidate<bool>> candidates{{.name = {"matrices"}, .parameters = true},
                                                         {{"packed"}, kOnlyIfMeasured, false}};
  if (matrices && !lowering.best_of(candidates)) matrices.reset();
  const bool rounds = op.weight_rounding.is_rounded();
  AttentionTile tile = attention_tile(lowering.caps(), o);
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
    bind_gathered(lowering, dispatch, o, tile.split);
  if (lowering.has_input(3)) bind_mask(lowering, dispatch);
  if (lowering.has_input(4)) bind_lengths(lowering, dispatch);
  if (lowering.has_input(5)) bind_sinks(lowering, dispatch);
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

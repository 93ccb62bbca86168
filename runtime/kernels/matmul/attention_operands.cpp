#include "kernels/matmul/attention_operands.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/matmul/attention_gather.hpp"
#include "kernels/movement/strided_reads.hpp"
#include "program/divide.hpp"
#include "shaders/matmul/attention.h"
#include "shaders/matmul/attention_cache.h"
#include "shaders/matmul/attention_matrices.h"
#include "shaders/matmul/attention_pictures.h"

namespace vellum {
namespace {

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

// Returns the operand whose tokens are all pixels of pictures in channels4, row by row.
std::optional<MatrixOperand> in_picture(const Lowering& lowering, size_t input, const StridedView& view) {
  const Shape& shape = lowering.input_type(input).shape;
  if (shape.size() < 3 || shape.size() > 4 || lowering.constant(input) ||
      layout_of_view(lowering, input) != Layout::channels4)
    return std::nullopt;
  const auto [images, channels, height, width] = nchw(shape);
  const int64_t pixels = height * width, slice = 4 * pixels;
  const int64_t head = view.shape[1] == 1 ? 0 : view.strides[1];
  const bool has_pixels = view.shape[0] == images && view.shape[2] == pixels &&
                          (images == 1 || view.strides[0] == channels * pixels) &&
                          (pixels == 1 || view.strides[2] == 1) && view.strides[3] == pixels;
  if (!has_pixels || view.shape[3] % 4 != 0 || view.offset % slice != 0 || head % slice != 0 || head < 0)
    return std::nullopt;
  if (view.offset / pixels + (view.shape[1] - 1) * head / pixels + view.shape[3] > channels)
    return std::nullopt;
  return MatrixOperand{view.offset / slice, head / slice, 0, 0};
}

// Returns the number of bindings besides Q, K and V: the mask, the lengths, the sinks, the roundings, the
// result, and maybe the key bias.
uint32_t bindings_without_key_bias(const Lowering& lowering) {
  const bool rounds = lowering.op<Attention>().weight_rounding.is_rounded();
  uint32_t inputs = 0;
  for (const size_t i : {3, 4, 5}) inputs += lowering.has_input(i) ? 1 : 0;
  return inputs + (rounds ? 1 : 0) + 1;
}
uint32_t other_bindings(const Lowering& lowering) {
  const bool has_key_bias = lowering.has_input(6) && !adds_key_bias_to_mask(lowering);
  return bindings_without_key_bias(lowering) + (has_key_bias ? 1 : 0);
}

std::optional<MatrixOperands> operands_in_pictures(const Lowering& lowering, const Attention::Operands& o) {
  if (lowering.op<Attention>().weight_rounding.is_rounded()) return std::nullopt;
  const auto q = in_picture(lowering, 0, o.q), k = in_picture(lowering, 1, o.k),
             v = in_picture(lowering, 2, o.v);
  const auto size = [&](size_t input) {
    const auto [images, channels, height, width] = nchw(lowering.input_type(input).shape);
    return std::array{height, width};
  };
  if (!q || !k || !v || size(1) != size(2)) return std::nullopt;
  return MatrixOperands{.q = *q, .k = *k, .v = *v, .pictures = true};
}

std::optional<MatrixOperands> operands_in_matrices(const Lowering& lowering, const Attention::Operands& o) {
  const auto q = in_matrix(lowering, 0, o.q), k = in_matrix(lowering, 1, o.k),
             v = in_matrix(lowering, 2, o.v);
  if (!q || !k || !v || k->image != v->image || k->token != v->token) return std::nullopt;
  if (lowering.input_type(1).shape[0] != lowering.input_type(2).shape[0]) return std::nullopt;
  return MatrixOperands{.q = *q, .k = *k, .v = *v};
}

// The strides of images, heads and tokens in slices. Those of caches are in words, of one slice or two.
std::vector<int64_t> slice_strides(const StridedView& view, RowFormat format) {
  const auto in_slices = [&](int64_t stride) {
    return format == RowFormat::floats ? stride / 4 : stride * channels_of_word(format) / 4;
  };
  return {in_slices(view.strides[0]), in_slices(view.strides[1]), in_slices(view.strides[2])};
}

}  // namespace

bool adds_key_bias_to_mask(const Lowering& lowering) {
  constexpr uint32_t kGridAndKeyBias = 2;
  return lowering.has_input(6) && kGridAndKeyBias + bindings_without_key_bias(lowering) >
                                      lowering.caps().max_storage_buffers_per_stage;
}

Shape mask_shape(const Lowering& lowering) {
  const Shape& mask = lowering.input_type(3).shape;
  return adds_key_bias_to_mask(lowering) ? broadcast(mask, lowering.input_type(6).shape) : mask;
}

AttentionSizes attention_sizes(const Lowering& lowering, const Attention::Operands& o) {
  const int64_t images = o.q.shape[0], heads = o.q.shape[1], queries = o.q.shape[2], keys = o.k.shape[2],
                channels = o.v.shape[3];
  AttentionSizes result{images, heads, queries, keys, heads / o.k.shape[1], slices(o.q.shape[3]), {}, {}};
  result.mask_strides.assign(4, 0);
  if (lowering.has_input(3))
    result.mask_strides = broadcast_strides(mask_shape(lowering), {images, heads, queries, keys});
  result.y_strides = {heads * queries * channels, o.tokens_first ? channels : queries * channels,
                      o.tokens_first ? heads * channels : channels};
  return result;
}

bool reads_caches(const Lowering& lowering, const Attention::Operands& o) {
  const Attention& op = lowering.op<Attention>();
  if (!lowering.has_input(4) || op.q_norm || op.k_norm) return false;
  const bool in_bytes = lowering.op<Attention>().has_word_caches();
  const auto has_whole_slices = [](const StridedView& view) {
    const auto is_whole = [](int64_t count) { return count >= 0 && count % 4 == 0; };
    return view.offset == 0 && view.strides[3] == 1 && view.shape[3] % 4 == 0 &&
           std::all_of(view.strides.begin(), view.strides.begin() + 3, is_whole);
  };
  return has_whole_slices(o.q) && (in_bytes || (has_whole_slices(o.k) && has_whole_slices(o.v))) &&
         3 + other_bindings(lowering) <= lowering.caps().max_storage_buffers_per_stage;
}

std::optional<MatrixOperands> operands_in_place(const Lowering& lowering, const Attention::Operands& o) {
  // The kernel reads each key for many queries, so the gathering rounds, normalises or expands them.
  const Attention& op = lowering.op<Attention>();
  if (op.has_word_caches() || op.q_rounding || op.k_rounding || op.q_norm || op.k_norm) return std::nullopt;
  auto operands = operands_in_matrices(lowering, o);
  if (!operands) operands = operands_in_pictures(lowering, o);
  if (!operands) return std::nullopt;
  const auto& inputs = lowering.node().inputs;
  operands->separate = inputs[0] != inputs[1] || inputs[1] != inputs[2];
  const uint32_t bindings = (operands->separate ? 3 : 1) + other_bindings(lowering);
  if (bindings > lowering.caps().max_storage_buffers_per_stage) return std::nullopt;
  return operands;
}

void bind_gathered(Lowering& lowering, Dispatch& dispatch, const Attention::Operands& o,
                   const KeySplit& split) {
  const OperandGrid grid = gather_operands(lowering, o);
  dispatch.bindings = {reads("grid", grid.tensor)};
  const AttentionSizes common = attention_sizes(lowering, o);
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

void bind_caches(Lowering& lowering, Dispatch& dispatch, const Attention::Operands& o,
                 const KeySplit& split) {
  constexpr const char* names[] = {"q", "k", "v"};
  const bool in_bytes = lowering.op<Attention>().has_word_caches();
  for (size_t i = 0; i < 3; ++i) {
    const TensorId operand = lowering.read(i, Layout::linear);
    dispatch.bindings.push_back(in_bytes && i > 0 ? reads_bytes(names[i], operand)
                                                  : reads(names[i], operand));
  }
  define(dispatch, "CACHE");
  if (in_bytes) define_cache_rows(lowering, dispatch);
  const AttentionSizes common = attention_sizes(lowering, o);
  const RowFormat rows = lowering.op<Attention>().cache_rows;
  const std::vector<int64_t> q = slice_strides(o.q, RowFormat::floats), k = slice_strides(o.k, rows),
                             v = slice_strides(o.v, rows);
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

namespace {

Parameters picture_parameters(const Lowering& lowering, const Attention::Operands& o, const MatrixOperands& m,
                              const KeySplit& split) {
  const auto shape = [&](size_t i) { return nchw(lowering.input_type(i).shape); };
  const AttentionSizes common = attention_sizes(lowering, o);
  return AttentionPicturesParameters{.queries = common.queries,
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
                                     .q_width = shape(0)[3],
                                     .q_height = shape(0)[2],
                                     .kv_width = shape(1)[3],
                                     .kv_height = shape(1)[2],
                                     .q_slices = slices(shape(0)[1]),
                                     .k_slices = slices(shape(1)[1]),
                                     .v_slices = slices(shape(2)[1]),
                                     .y_slices = slices(o.q.shape[1] * o.v.shape[3]),
                                     .heads_per_kv = common.heads_per_kv,
                                     .depth_slices = common.depth_slices,
                                     .key_parts = split.parts,
                                     .part_keys = split.keys,
                                     .scale = o.scale};
}

}  // namespace

void bind_matrices(Lowering& lowering, Dispatch& dispatch, const Attention::Operands& o,
                   const MatrixOperands& m, const KeySplit& split) {
  constexpr const char* names[] = {"q", "k", "v"};
  for (size_t i = 0; i < (m.separate ? 3 : 1); ++i)
    dispatch.bindings.push_back(reads(names[i], lowering.read(i, Layout::channels4)));
  define(dispatch, "MATRICES");
  if (m.separate) define(dispatch, "SEPARATE");
  if (m.pictures) {
    define(dispatch, "PICTURES");
    dispatch.push_constants = picture_parameters(lowering, o, m, split);
    return;
  }
  const auto width = [&](size_t i) { return slices(lowering.input_type(i).shape[1]); };
  const auto tokens = [&](size_t i) { return lowering.input_type(i).shape[0]; };
  const AttentionSizes common = attention_sizes(lowering, o);
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

}  // namespace vellum

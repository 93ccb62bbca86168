#include "kernels/matmul/attention_gather.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/conv/weights.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/framework/step_rounding.hpp"
#include "kernels/movement/strided_reads.hpp"
#include "shaders/matmul/attention_pack.h"
#include "shaders/matmul/attention_pack_tensors.h"

namespace vellum {
namespace {

int64_t rows_of(const StridedView& view) { return view.shape[1] * slices(view.shape[3]); }

// Binds what attention_pack.comp rounds the operands from `first` on to, if it rounds one of them.
void bind_operand_roundings(Lowering& lowering, Dispatch& dispatch, size_t first, int64_t operands) {
  const Attention& op = lowering.op<Attention>();
  const std::array all{op.q_rounding, op.k_rounding, OperandRounding()};
  const std::vector<OperandRounding> roundings(all.begin() + static_cast<std::ptrdiff_t>(first),
                                               all.begin() + static_cast<std::ptrdiff_t>(first) + operands);
  if (std::ranges::none_of(roundings, [](const OperandRounding& r) { return bool{r}; })) return;
  TensorDesc desc = lowering.texel_grid(static_cast<uint32_t>(operands), 1);
  desc.element = ElementType::f32;
  const auto values = [roundings] {
    std::vector<float> texels;
    for (const auto& [factor, rounding] : roundings)
      texels.insert(texels.end(), {rounding.step, rounding.least, rounding.most, factor});
    return texels;
  };
  const std::string name = lowering.node().name + "/operand_roundings_" + std::to_string(first);
  dispatch.bindings.push_back(reads("roundings", lowering.weight(name, desc, values)));
  define(dispatch, "ROUND_OPERANDS");
  for (const OperandRounding& operand : roundings) define_steps(dispatch, {result_steps(operand.rounding)});
}

// The normalisations of the operands from `first` on; empty if none of them is normalised.
std::vector<OperandNorm> norms_of(const Attention& op, size_t first, int64_t operands) {
  const std::array all{op.q_norm, op.k_norm, OperandNorm()};
  std::vector<OperandNorm> norms(all.begin() + static_cast<std::ptrdiff_t>(first),
                                 all.begin() + static_cast<std::ptrdiff_t>(first) + operands);
  if (std::ranges::none_of(norms, [](const OperandNorm& norm) { return bool{norm}; })) norms.clear();
  return norms;
}

// Binds what attention_pack.comp normalises the operands from `first` on with.
void bind_norms(Lowering& lowering, Dispatch& dispatch, size_t first, const std::vector<OperandNorm>& norms,
                const StridedView& view) {
  const int64_t channels = view.shape[3], padded = 4 * slices(channels), heads = view.shape[1];
  TensorDesc desc =
      lowering.texel_grid(static_cast<uint32_t>(1 + rows_of(view)), static_cast<uint32_t>(norms.size()));
  desc.element = ElementType::f32;
  const auto values = [norms, channels, padded, heads] {
    std::vector<float> texels;
    for (const OperandNorm& norm : norms) {
      texels.insert(texels.end(), {norm.epsilon, norm ? 1.0f : 0.0f, 0.0f, 0.0f});
      for (int64_t i = 0; i < heads * padded; ++i) {
        const int64_t head = i / padded, channel = i % padded;
        const bool has_factor = norm && channel < channels;
        texels.push_back(has_factor ? norm.factors[static_cast<size_t>(head * channels + channel)] : 0.0f);
      }
    }
    return texels;
  };
  const std::string name = lowering.node().name + "/operand_norms_" + std::to_string(first);
  dispatch.bindings.push_back(reads("norms", lowering.weight(name, desc, values)));
  define(dispatch, "NORMALIZE");
  dispatch.iterations = kShortLoops + 2 * loop_iterations(slices(channels), loop_iterations(4));
}

// The view's strides, 0 along axes of one element, whose strides mean nothing.
std::vector<int64_t> strides_of(const StridedView& view) {
  std::vector<int64_t> strides = view.strides;
  for (size_t axis = 0; axis < strides.size(); ++axis)
    if (view.shape[axis] == 1) strides[axis] = 0;
  return strides;
}

// Returns whether one dispatch can gather Q, K and V as one source: they are views of one tensor with equal
// shapes and strides, at equal distances.
bool evenly_apart(const Node& node, const Attention::Operands& o) {
  const auto alike = [&](const StridedView& a) {
    return a.shape == o.q.shape && strides_of(a) == strides_of(o.q);
  };
  return node.inputs[0] == node.inputs[1] && node.inputs[1] == node.inputs[2] && alike(o.k) && alike(o.v) &&
         o.k.offset - o.q.offset == o.v.offset - o.k.offset;
}

// How attention_pack.comp reads an operand.
struct OperandSource {
  size_t input = 0;
  StridedView view;
  bool in_bytes = false, linear = false, quads = false;
  std::array<int64_t, 4> shape{};  // of channels4 tensors

  int64_t plane() const { return shape[2] * shape[3]; }
  ivec4 x_shape() const { return {shape[3], shape[2], shape[1], shape[0]}; }
};

OperandSource source_of(const Lowering& lowering, size_t input, const StridedView& view) {
  OperandSource source{.input = input, .view = view};
  source.in_bytes = input > 0 && lowering.op<Attention>().has_word_caches();
  source.linear = source.in_bytes || layout_of_view(lowering, input) == Layout::linear;
  source.shape = source.linear ? std::array<int64_t, 4>{1, 4, 1, 1} : nchw(lowering.input_type(input).shape);
  source.quads = !source.in_bytes && reads_quads(view, 3, source.plane(), source.shape[1]);
  return source;
}

// Returns whether one dispatch can gather both operands from different tensors.
bool are_alike(const OperandSource& a, const OperandSource& b) {
  return !a.in_bytes && !b.in_bytes && a.linear == b.linear && a.quads == b.quads && a.shape == b.shape &&
         a.view.shape == b.view.shape && strides_of(a.view) == strides_of(b.view);
}

Parameters of_one_tensor(const OperandSource& source, const ivec4& y_shape, int64_t row, int64_t operands,
                         int64_t operand_stride) {
  const StridedView& view = source.view;
  return AttentionPackParameters{.x_shape = source.x_shape(),
                                 .y_shape = y_shape,
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
                                 .first_row = row};
}

Parameters of_several_tensors(std::span<const OperandSource> sources, const ivec4& y_shape, int64_t row) {
  const StridedView& view = sources.front().view;
  return AttentionPackTensorsParameters{.x_shape = sources.front().x_shape(),
                                        .y_shape = y_shape,
                                        .tokens = view.shape[2],
                                        .heads = view.shape[1],
                                        .channels = view.shape[3],
                                        .images = view.shape[0],
                                        .token_stride = view.strides[2],
                                        .head_stride = view.strides[1],
                                        .channel_stride = view.strides[3],
                                        .image_stride = view.strides[0],
                                        .base = view.offset,
                                        .second_base = sources[1].view.offset,
                                        .third_base = sources.back().view.offset,
                                        .first_row = row};
}

// Gathers operands into the grid from `row` on: one tensor for each of `sources`, or, of a single source,
// `operands` that are `operand_stride` elements apart.
void pack_into(Lowering& lowering, const OperandGrid& grid, std::span<const OperandSource> sources,
               int64_t row, int64_t operands, int64_t operand_stride) {
  const OperandSource& first = sources.front();
  const StridedView& view = first.view;
  std::vector<Binding> bindings;
  for (size_t i = 0; i < sources.size(); ++i) {
    const TensorId x = lowering.read(sources[i].input, first.linear ? Layout::linear : Layout::channels4);
    const std::string name = i == 0 ? "x" : "x" + std::to_string(i);
    bindings.push_back(first.in_bytes ? reads_bytes(name, x) : reads(name, x));
  }
  bindings.push_back(writes("y", grid.tensor));
  const auto y_shape = texel_shape(lowering.tensor(grid.tensor).desc.shape);
  const std::vector<OperandNorm> norms = norms_of(lowering.op<Attention>(), first.input, operands);
  const int64_t rows_of_each = norms.empty() ? rows_of(view) : view.shape[1];
  const int64_t invocations = operands * rows_of_each * view.shape[0] * view.shape[2];
  Dispatch dispatch =
      make_dispatch("attention_pack", grid_1d(lowering.caps(), invocations), std::move(bindings),
                    sources.size() > 1 ? of_several_tensors(sources, y_shape, row)
                                       : of_one_tensor(first, y_shape, row, operands, operand_stride));
  if (first.in_bytes)
    define_cache_rows(lowering, dispatch);
  else if (first.linear)
    define(dispatch, "X_LINEAR");
  if (!first.linear && first.plane() == 1) define(dispatch, "X_ROWS");
  if (first.quads && operand_stride % (4 * first.plane()) == 0) define(dispatch, "QUADS");
  if (sources.size() > 1) define(dispatch, "OPERANDS", std::to_string(sources.size()));
  bind_operand_roundings(lowering, dispatch, first.input, operands);
  if (!norms.empty()) bind_norms(lowering, dispatch, first.input, norms, view);
  lowering.dispatch(std::move(dispatch));
}

// Returns how many of the operands from `first` on one dispatch gathers.
size_t gathered_at_once(const Lowering& lowering, std::span<const OperandSource> sources, size_t first) {
  const Attention& op = lowering.op<Attention>();
  const bool binds_factors = op.q_rounding || op.k_rounding || op.q_norm || op.k_norm;
  const size_t others = binds_factors ? 2 : 1;  // the grid, and roundings or norms
  const size_t most = std::max<size_t>(lowering.caps().max_storage_buffers_per_stage, others + 1) - others;
  size_t last = first + 1;
  while (last < sources.size() && last - first < most && are_alike(sources[first], sources[last])) ++last;
  return last - first;
}

}  // namespace

OperandGrid gather_operands(Lowering& lowering, const Attention::Operands& o) {
  OperandGrid grid;
  grid.width = o.q.shape[0] * std::max(o.q.shape[2], o.k.shape[2]);
  grid.k_row = rows_of(o.q);
  grid.v_row = grid.k_row + rows_of(o.k);
  grid.tensor = lowering.workspace(lowering.node().name + "/operands",
                                   weight_grid(lowering, grid.width, grid.v_row + rows_of(o.v)));
  const std::array sources{source_of(lowering, 0, o.q), source_of(lowering, 1, o.k),
                           source_of(lowering, 2, o.v)};
  if (evenly_apart(lowering.node(), o)) {
    pack_into(lowering, grid, std::span(sources).first(1), 0, 3, o.k.offset - o.q.offset);
    return grid;
  }
  const std::array rows{int64_t{0}, grid.k_row, grid.v_row};
  for (size_t i = 0; i < sources.size();) {
    const size_t count = gathered_at_once(lowering, sources, i);
    pack_into(lowering, grid, std::span(sources).subspan(i, count), rows[i], static_cast<int64_t>(count), 0);
    i += count;
  }
  return grid;
}

void define_cache_rows(const Lowering& lowering, Dispatch& dispatch) {
  define(dispatch, "BYTE_ROWS");
  const RowFormat format = lowering.op<Attention>().cache_rows;
  if (format != RowFormat::scaled_bytes) define(dispatch, "WITHOUT_SCALES");
  if (format == RowFormat::nibbles) define(dispatch, "NIBBLES");
}

}  // namespace vellum

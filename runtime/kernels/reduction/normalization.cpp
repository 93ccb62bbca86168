// Lowers batch, instance, layer, group and local response normalisation.
#include "graph/operators/reduction/normalization.hpp"

#include <algorithm>
#include <cmath>

#include "graph/operators/reduction/channel_norm.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/framework/shared_loop.hpp"
#include "kernels/framework/strided.hpp"
#include "kernels/reduction/normalization.hpp"
#include "kernels/reduction/reduce.hpp"
#include "program/divide.hpp"
#include "shaders/reduction/instance_norm.h"
#include "shaders/reduction/lrn.h"
#include "shaders/reduction/norm_factors.h"
#include "shaders/reduction/norm_linear.h"
#include "shaders/reduction/norm_parts.h"
#include "shaders/reduction/norm_rows.h"
#include "shaders/reduction/norm_statistics.h"
#include "shaders/reduction/scale_bias.h"

namespace vellum {

namespace {

bool known(const Lowering& lowering, size_t first, size_t last) {
  for (size_t i = first; i <= last; ++i)
    if (lowering.has_input(i) && !lowering.constant(i)) return false;
  return true;
}

// The statistics of the rows of a linear tensor, and the invocations that share their loops. Long rows are
// split into segments, whose statistics are computed first.
struct RowStatistics {
  int64_t rows = 0, length = 0;
  float epsilon = 0;
  bool centred = true;
  SharedLoop loop = {}, loop_of_parts = {};
  Segments segments = {};
  LoopBy by = LoopBy::invocation, by_of_parts = LoopBy::invocation;
};

RowStatistics row_statistics(Lowering& lowering, int64_t rows, int64_t length, float epsilon, bool centred) {
  RowStatistics r{.rows = rows, .length = length, .epsilon = epsilon, .centred = centred};
  const SharedLoop loop{.results = rows, .length = length, .along = true, .iterations = centred ? 2u : 1u};
  r.segments = split_loop(lowering.caps(), loop);
  r.loop = loop_of_segments(loop, r.segments);
  r.by = choose_loop(lowering, r.loop);
  if (!r.segments.are_many()) return r;
  r.loop_of_parts = {.results = rows, .length = r.segments.count, .along = true, .iterations = 2};
  r.by_of_parts = choose_loop(lowering, r.loop_of_parts);
  return r;
}

// Returns the statistics of each row: four elements, of which the first two are the mean and 1 / deviation.
TensorId dispatch_statistics(Lowering& lowering, const RowStatistics& r, TensorId x) {
  const std::string& name = lowering.node().name;
  const bool splits = r.segments.are_many();
  const TensorId statistics = lowering.workspace(
      name + "/statistics", {{r.rows, 4}, ElementType::f32, Storage::buffer, Layout::linear});
  const TensorId first =
      splits ? lowering.workspace(name + "/parts",
                                  {{r.loop.results, 4}, ElementType::f32, Storage::buffer, Layout::linear})
             : statistics;
  Dispatch reduction = loop_dispatch(lowering.caps(), "norm_statistics", r.loop, r.by,
                                     {reads("x", x), writes("statistics", first)},
                                     NormStatisticsParameters{.rows = r.loop.results,
                                                              .length = r.length,
                                                              .segments = r.segments.count,
                                                              .segment = r.segments.length,
                                                              .epsilon = r.epsilon});
  if (!r.centred) define(reduction, "UNCENTRED");
  if (splits) define(reduction, "SEGMENTED");
  lowering.dispatch(std::move(reduction));
  if (splits)
    lowering.dispatch(loop_dispatch(
        lowering.caps(), "norm_parts", r.loop_of_parts, r.by_of_parts,
        {reads("parts", first), writes("statistics", statistics)},
        NormPartsParameters{
            .rows = r.rows, .length = r.length, .segments = r.segments.count, .epsilon = r.epsilon}));
  return statistics;
}

// Normalises a linear tensor row by row. Element i uses the scale and bias with index i / inner modulo their
// count. Returns the statistics of the rows.
TensorId normalize_rows(Lowering& lowering, int64_t rows, int64_t length, int64_t inner, float epsilon,
                        const Activation& activation = {}, bool centred = true) {
  const RowStatistics r = row_statistics(lowering, rows, length, epsilon, centred);
  std::vector<float> factors = lowering.constant(1)->to_floats();
  const auto period = static_cast<int64_t>(factors.size());
  std::vector<float> bias(factors.size(), 0.0f);
  if (lowering.has_input(2)) bias = lowering.constant(2)->to_floats();
  factors.insert(factors.end(), bias.begin(), bias.end());
  const Shape& shape = lowering.output_type().shape;
  const TensorId x = lowering.read(0, Layout::linear), y = lowering.write(0, Layout::linear);
  const TensorId factor_tensor = lowering.weight(
      lowering.node().name + "/factors", {{2 * period}, ElementType::f32, Storage::buffer, Layout::linear},
      [factors = std::move(factors)] { return factors; });
  const TensorId statistics = dispatch_statistics(lowering, r, x);
  Dispatch dispatch = make_dispatch("norm_linear", grid_1d(lowering.caps(), groups_of_four(shape)),
                                    {reads_in_place("x", x), reads("statistics", statistics),
                                     reads("factors", factor_tensor), writes("y", y)},
                                    NormLinearParameters{.activation_params = activation_params(activation),
                                                         .count = element_count(shape),
                                                         .length = length,
                                                         .inner = inner,
                                                         .period = period});
  define_activation(dispatch, activation);
  lowering.dispatch(std::move(dispatch));
  return statistics;
}

constexpr const char* kComputedFactors =
    "normalisation with a scale or bias computed at run time has no kernel";

}  // namespace

void lower_batch_norm(Lowering& lowering) {
  const BatchNormalization& op = lowering.op<BatchNormalization>();
  if (lowering.input_type(0).shape.size() > 4)
    return lowering.run_on_host("BatchNormalization of more than four dimensions has no kernel");
  if (!known(lowering, 1, 4)) return lowering.run_on_host(kComputedFactors);
  std::vector<float> scale = lowering.constant(1)->to_floats(), bias = lowering.constant(2)->to_floats();
  const std::vector<float> mean = lowering.constant(3)->to_floats(),
                           variance = lowering.constant(4)->to_floats();
  for (size_t c = 0; c < scale.size(); ++c) {
    scale[c] /= std::sqrt(variance[c] + op.epsilon);
    bias[c] -= mean[c] * scale[c];
  }
  const Shape& shape = lowering.output_type().shape;
  const TensorId x = lowering.read(0, Layout::channels4), y = lowering.write(0, Layout::channels4);
  const TensorId pairs =
      channel_pairs(lowering, lowering.node().name + "/scale_bias", std::move(scale), std::move(bias));
  Dispatch dispatch = make_dispatch("scale_bias", grid_of_texels(lowering.caps(), shape),
                                    {reads_in_place("x", x), reads("scale_bias", pairs), writes("y", y)},
                                    ScaleBiasParameters{.activation_params = activation_params(op.activation),
                                                        .y_shape = texel_shape(shape)});
  define_activation(dispatch, op.activation);
  lowering.dispatch(std::move(dispatch));
}

namespace {

// How planes of channels4 are normalised: each by itself, or those of a group of channels together.
struct PlaneNorm {
  int64_t group = 1;  // channels
  float epsilon = 0;
  Activation activation = {};
  std::vector<float> scale = {}, bias = {};  // of each channel
};

// Normalises planes in channels4 that are too long for one workgroup each, or whose groups are other than
// whole slices: reductions compute mean and variance, and another dispatch applies scale and bias of each
// plane.
void normalize_long_planes(Lowering& lowering, PlaneNorm norm) {
  const Shape& shape = lowering.output_type().shape;
  const auto [n, c, h, w] = nchw(shape);
  const TensorId x = lowering.read(0, Layout::channels4);
  const PlaneStatistics statistics = reduce_planes(lowering);
  const TensorId y = lowering.write(0, Layout::channels4);
  const std::string& name = lowering.node().name;
  const TensorId pairs =
      channel_pairs(lowering, name + "/scale_bias", std::move(norm.scale), std::move(norm.bias));
  const Shape grid{1, 4, 2 * n, slices(c)};
  const TensorId factors =
      lowering.workspace(name + "/factors", {grid, ElementType::f32, Storage::buffer, Layout::channels4});
  Dispatch combination =
      make_dispatch("norm_factors", grid_1d(lowering.caps(), n * slices(c)),
                    {reads("mean", statistics.mean), reads("variance", statistics.variance),
                     reads("scale_bias", pairs), writes("factors", factors)},
                    NormFactorsParameters{.x_shape = texel_shape({n, c, 1, 1}),
                                          .factors_shape = texel_shape(grid),
                                          .epsilon = norm.epsilon,
                                          .group = norm.group});
  if (norm.group > 1) {
    define(combination, "GROUPED");
    combination.iterations = loop_iterations(4, 2 * loop_iterations(norm.group));
  }
  lowering.dispatch(std::move(combination));
  Dispatch dispatch =
      make_dispatch("scale_bias", grid_of_texels(lowering.caps(), shape),
                    {reads_in_place("x", x), reads("scale_bias", factors), writes("y", y)},
                    ScaleBiasParameters{.activation_params = activation_params(norm.activation),
                                        .y_shape = texel_shape(shape)});
  define_activation(dispatch, norm.activation);
  define(dispatch, "OF_IMAGES");
  lowering.dispatch(std::move(dispatch));
}

// `group`: 1, or whole slices.
void normalize_planes(Lowering& lowering, PlaneNorm norm) {
  const Shape& shape = lowering.output_type().shape;
  const auto [n, c, h, w] = nchw(shape);
  const int64_t group_slices = slices(norm.group);
  const SharedLoop loop{
      .results = n * slices(c) / group_slices, .length = group_slices * h * w, .iterations = 3};
  if (split_loop(lowering.caps(), loop).are_many()) return normalize_long_planes(lowering, std::move(norm));
  const LoopBy by = choose_loop(lowering, loop);
  const TensorId x = lowering.read(0, Layout::channels4), y = lowering.write(0, Layout::channels4);
  const TensorId pairs = channel_pairs(lowering, lowering.node().name + "/scale_bias", std::move(norm.scale),
                                       std::move(norm.bias));
  Dispatch dispatch =
      loop_dispatch(lowering.caps(), "instance_norm", loop, by,
                    {reads_in_place("x", x), reads("scale_bias", pairs), writes("y", y)},
                    InstanceNormParameters{.activation_params = activation_params(norm.activation),
                                           .y_shape = texel_shape(shape),
                                           .group_slices = group_slices,
                                           .epsilon = norm.epsilon});
  define_activation(dispatch, norm.activation);
  if (norm.group > 1) define(dispatch, "GROUPED");
  lowering.dispatch(std::move(dispatch));
}

}  // namespace

void lower_instance_norm(Lowering& lowering) {
  const InstanceNormalization& op = lowering.op<InstanceNormalization>();
  if (!known(lowering, 1, 2)) return lowering.run_on_host(kComputedFactors);
  const Shape& shape = lowering.output_type().shape;
  if (is_in_channels4(lowering, 0))
    return normalize_planes(lowering, {.epsilon = op.epsilon,
                                       .activation = op.activation,
                                       .scale = lowering.constant(1)->to_floats(),
                                       .bias = lowering.constant(2)->to_floats()});
  const int64_t plane = product(shape, 2, shape.size());
  normalize_rows(lowering, shape[0] * shape[1], plane, plane, op.epsilon, op.activation);
}

namespace {

// Returns a factor for each channel from one for each group or channel.
std::vector<float> of_channels(const HostTensor& factors, int64_t channels) {
  const std::vector<float> given = factors.to_floats();
  const size_t repeats = given.empty() ? 1 : static_cast<size_t>(channels) / given.size();
  std::vector<float> result;
  for (const float factor : given) result.insert(result.end(), repeats, factor);
  return result;
}

}  // namespace

void lower_group_norm(Lowering& lowering) {
  const GroupNormalization& op = lowering.op<GroupNormalization>();
  if (!known(lowering, 1, 2)) return lowering.run_on_host(kComputedFactors);
  const Shape& shape = lowering.output_type().shape;
  const int64_t group = shape[1] / std::max<int64_t>(op.groups, 1);
  constexpr int64_t kMostChannels = 64;  // that an invocation of norm_factors.comp combines
  const bool is_whole = group == 1 || group % 4 == 0;
  if (shape.size() > 2 && is_in_channels4(lowering, 0) && (is_whole || group <= kMostChannels)) {
    PlaneNorm norm{.group = group,
                   .epsilon = op.epsilon,
                   .activation = op.activation,
                   .scale = of_channels(*lowering.constant(1), shape[1]),
                   .bias = of_channels(*lowering.constant(2), shape[1])};
    return is_whole ? normalize_planes(lowering, std::move(norm))
                    : normalize_long_planes(lowering, std::move(norm));
  }
  const int64_t image = product(shape, 1, shape.size());
  const int64_t factors = lowering.constant(1)->elements();  // one per group or one per channel
  normalize_rows(lowering, shape[0] * op.groups, image / op.groups, image / factors, op.epsilon,
                 op.activation);
}

namespace {

// The loop over rows of whole texels: the last dimension of a linear tensor, or the channels of each pixel in
// channels4.
SharedLoop loop_of_texels(Layout layout, const Shape& shape, bool centred) {
  const int64_t length = layout == Layout::linear ? shape.back() : shape[1];
  return {.results = length == 0 ? 0 : element_count(shape) / length,
          .length = slices(length),
          .along = true,
          .iterations = centred ? 3u : 2u};
}

struct RowTensors {
  TensorId x = kNoTensor, factors = kNoTensor, y = kNoTensor;
};

// Normalises rows of whole texels in one dispatch.
void dispatch_rows(Lowering& lowering, Layout layout, const Shape& shape, const TexelNorm& norm, LoopBy by,
                   const RowTensors& tensors) {
  const int64_t length = layout == Layout::linear ? shape.back() : shape[1];
  Dispatch dispatch = loop_dispatch(
      lowering.caps(), "norm_rows", loop_of_texels(layout, shape, norm.centred), by,
      {reads_in_place("x", tensors.x), reads("factors", tensors.factors), writes("y", tensors.y)},
      NormRowsParameters{.activation_params = activation_params(norm.activation),
                         .y_shape = texel_shape(shape),
                         .epsilon = norm.epsilon});
  define_activation(dispatch, norm.activation);
  if (layout == Layout::linear) define(dispatch, "LINEAR_LAYOUT");
  if (length % 4 != 0) define(dispatch, "MASKED");
  if (!norm.centred) define(dispatch, "UNCENTRED");
  lowering.dispatch(std::move(dispatch));
}

void normalize_texels(Lowering& lowering, Layout layout, const Shape& shape, const TexelNorm& norm) {
  const LoopBy by = choose_loop(lowering, loop_of_texels(layout, shape, norm.centred));
  const TensorId factors = norm_factors(lowering, 1);
  const TensorId x = lowering.read(0, layout);
  dispatch_rows(lowering, layout, shape, norm, by, {x, factors, lowering.write(0, layout)});
}

}  // namespace

TensorId norm_factors(Lowering& lowering, size_t input) {
  std::vector<float> scale = lowering.constant(input)->to_floats();
  std::vector<float> bias(scale.size(), 0.0f);
  if (lowering.has_input(input + 1)) bias = lowering.constant(input + 1)->to_floats();
  return channel_pairs(lowering, lowering.node().name + "/factors", std::move(scale), std::move(bias));
}

void normalize_pixels(Lowering& lowering, const TexelNorm& norm, size_t factors, TensorId x, TensorId y) {
  const Shape shape = lowering.tensor(y).desc.shape;
  const LoopBy by = choose_loop(lowering, loop_of_texels(Layout::channels4, shape, norm.centred));
  dispatch_rows(lowering, Layout::channels4, shape, norm, by, {x, norm_factors(lowering, factors), y});
}

void lower_layer_norm(Lowering& lowering) {
  const LayerNormalization& op = lowering.op<LayerNormalization>();
  const Shape& shape = lowering.output_type().shape;
  const size_t axis = normalize_axis(op.axis, shape.size());
  const int64_t length = product(shape, axis, shape.size());
  if (!known(lowering, 1, 2)) return lowering.run_on_host(kComputedFactors);
  for (size_t i = 1; i <= 2; ++i)
    if (lowering.has_input(i) && lowering.constant(i)->elements() != length)
      return lowering.run_on_host("LayerNormalization whose scale broadcasts has no kernel");
  const int64_t rows = product(shape, 0, axis);
  const SharedLoop loop = loop_of_texels(Layout::linear, {rows, length}, op.centred);
  const bool splits = split_loop(lowering.caps(), loop).are_many();
  if (!lowering.is_read(1) && !lowering.is_read(2) && !splits) {
    // In channels4 the elements of a row are contiguous, too, if the row has all channels and nothing else.
    if (is_in_channels4(lowering, 0) && axis == 1 && product(shape, 2, shape.size()) == 1)
      return normalize_texels(lowering, Layout::channels4, {rows, length}, {op.epsilon, op.centred});
    if (length % 4 == 0)
      return normalize_texels(lowering, Layout::linear, {rows, length}, {op.epsilon, op.centred});
  }
  const TensorId statistics = normalize_rows(lowering, rows, length, 1, op.epsilon, {}, op.centred);
  for (size_t i = 1; i <= 2; ++i)
    if (lowering.is_read(i))
      strided_copy(lowering, statistics, lowering.write(i, Layout::linear), {{rows}, {{4}}},
                   static_cast<int64_t>(i) - 1);
}

void lower_channel_norm(Lowering& lowering) {
  if (!known(lowering, 1, 2)) return lowering.run_on_host(kComputedFactors);
  const auto& op = lowering.op<ChannelNormalization>();
  normalize_texels(lowering, Layout::channels4, lowering.output_type().shape,
                   {op.epsilon, op.centred, op.activation});
}

void lower_lrn(Lowering& lowering) {
  const Lrn& op = lowering.op<Lrn>();
  const Shape& shape = lowering.output_type().shape;
  if (shape.size() > 4) return lowering.run_on_host("LRN of more than four dimensions has no kernel");
  const TensorId x = lowering.read(0, Layout::channels4), y = lowering.write(0, Layout::channels4);
  // A window that is larger than all channels has the same effect as one of all channels.
  const int64_t size = std::min(op.size, 2 * shape[1] + 1);
  const float share = op.alpha / static_cast<float>(op.size);
  Dispatch dispatch = make_dispatch(
      "lrn", grid_of_texels(lowering.caps(), shape), {reads("x", x), writes("y", y)},
      LrnParameters{
          .y_shape = texel_shape(shape), .size = size, .alpha = share, .beta = op.beta, .bias = op.bias});
  constexpr int64_t kChannels = 4;
  const int64_t neighbours = std::min(slices(shape[1]), size / kChannels + 3);
  dispatch.iterations = loop_iterations(neighbours, loop_iterations(kChannels));
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

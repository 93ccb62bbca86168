// Batch, instance, layer, group and local response normalisation.
#include "graph/operators/reduction/normalization.hpp"

#include <algorithm>
#include <cmath>

#include "graph/operators/reduction/channel_norm.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/divide.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/framework/shared_loop.hpp"
#include "kernels/movement/strided.hpp"
#include "shaders/reduction/instance_norm.h"
#include "shaders/reduction/lrn.h"
#include "shaders/reduction/norm_linear.h"
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

// A linear tensor normalised row by row; element i of it takes scale and bias number i / inner modulo their
// count. Returns mean and 1 / deviation of each row, in the first two of four elements.
TensorId normalize_rows(Lowering& lowering, int64_t rows, int64_t length, int64_t inner, float epsilon,
                        bool centred = true) {
  const SharedLoop loop{.results = rows, .length = length, .along = true, .iterations = centred ? 2u : 1u};
  const LoopBy by = choose_loop(lowering, loop);
  std::vector<float> factors = lowering.constant(1)->to_floats();
  const auto period = static_cast<int64_t>(factors.size());
  std::vector<float> bias(factors.size(), 0.0f);
  if (lowering.has_input(2)) bias = lowering.constant(2)->to_floats();
  factors.insert(factors.end(), bias.begin(), bias.end());
  const Shape& shape = lowering.output_type().shape;
  const std::string& name = lowering.node().name;
  const TensorId x = lowering.read(0, Layout::linear), y = lowering.write(0, Layout::linear);
  const TensorId factor_tensor =
      lowering.weight(name + "/factors", {{2 * period}, ElementType::f32, Storage::buffer, Layout::linear},
                      [factors = std::move(factors)] { return factors; });
  const TensorId statistics = lowering.workspace(
      name + "/statistics", {{rows, 4}, ElementType::f32, Storage::buffer, Layout::linear});
  Dispatch reduction = loop_dispatch(
      lowering.caps(), "norm_statistics", loop, by, {reads("x", x), writes("statistics", statistics)},
      NormStatisticsParameters{.rows = rows, .length = length, .epsilon = epsilon});
  if (!centred) define(reduction, "UNCENTRED");
  lowering.dispatch(std::move(reduction));
  lowering.dispatch(make_dispatch("norm_linear", grid_1d(lowering.caps(), groups_of_four(shape)),
                                  {reads_in_place("x", x), reads("statistics", statistics),
                                   reads("factors", factor_tensor), writes("y", y)},
                                  NormLinearParameters{.count = element_count(shape),
                                                       .length = length,
                                                       .inner = inner,
                                                       .period = period}));
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

void lower_instance_norm(Lowering& lowering) {
  const InstanceNormalization& op = lowering.op<InstanceNormalization>();
  if (!known(lowering, 1, 2)) return lowering.run_on_host(kComputedFactors);
  const Shape& shape = lowering.output_type().shape;
  if (!lives_in_channels4(lowering, 0)) {
    const int64_t plane = product(shape, 2, shape.size());
    normalize_rows(lowering, shape[0] * shape[1], plane, plane, op.epsilon);
    return;
  }
  const auto [n, c, h, w] = nchw(shape);
  const int64_t planes = n * slices(c);
  const SharedLoop loop{.results = planes, .length = h * w, .iterations = 3};
  const LoopBy by = choose_loop(lowering, loop);
  const TensorId x = lowering.read(0, Layout::channels4), y = lowering.write(0, Layout::channels4);
  const TensorId pairs = channel_pairs(lowering, lowering.node().name + "/scale_bias",
                                       lowering.constant(1)->to_floats(), lowering.constant(2)->to_floats());
  lowering.dispatch(loop_dispatch(lowering.caps(), "instance_norm", loop, by,
                                  {reads_in_place("x", x), reads("scale_bias", pairs), writes("y", y)},
                                  InstanceNormParameters{.y_shape = texel_shape(shape),
                                                         .epsilon = op.epsilon}));
}

namespace {

// Rows of whole texels, in one dispatch: the last dimension of what is linear, or the channels of each pixel
// of an image of that shape in channels4.
void normalize_texels(Lowering& lowering, Layout layout, const Shape& shape, float epsilon,
                      bool centred = true) {
  const int64_t length = layout == Layout::linear ? shape.back() : shape[1];
  const int64_t rows = length == 0 ? 0 : element_count(shape) / length;
  const SharedLoop loop{
      .results = rows, .length = slices(length), .along = true, .iterations = centred ? 3u : 2u};
  const LoopBy by = choose_loop(lowering, loop);
  std::vector<float> scale = lowering.constant(1)->to_floats();
  std::vector<float> bias(scale.size(), 0.0f);
  if (lowering.has_input(2)) bias = lowering.constant(2)->to_floats();
  const TensorId factors =
      channel_pairs(lowering, lowering.node().name + "/factors", std::move(scale), std::move(bias));
  const TensorId x = lowering.read(0, layout), y = lowering.write(0, layout);
  Dispatch dispatch =
      loop_dispatch(lowering.caps(), "norm_rows", loop, by,
                    {reads_in_place("x", x), reads("factors", factors), writes("y", y)},
                    NormRowsParameters{.y_shape = texel_shape(shape), .epsilon = epsilon});
  if (layout == Layout::linear) define(dispatch, "LINEAR");
  if (length % 4 != 0) define(dispatch, "MASKED");
  if (!centred) define(dispatch, "UNCENTRED");
  lowering.dispatch(std::move(dispatch));
}

}  // namespace

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
  if (!lowering.is_read(1) && !lowering.is_read(2)) {
    // In channels4, too, the elements of a row follow one another if it has the channels and nothing else.
    if (lives_in_channels4(lowering, 0) && axis == 1 && product(shape, 2, shape.size()) == 1)
      return normalize_texels(lowering, Layout::channels4, {rows, length}, op.epsilon, op.centred);
    if (length % 4 == 0)
      return normalize_texels(lowering, Layout::linear, {rows, length}, op.epsilon, op.centred);
  }
  const TensorId statistics = normalize_rows(lowering, rows, length, 1, op.epsilon, op.centred);
  for (size_t i = 1; i <= 2; ++i)
    if (lowering.is_read(i))
      strided_copy(lowering, statistics, lowering.write(i, Layout::linear), {{rows}, {{4}}},
                   static_cast<int64_t>(i) - 1);
}

void lower_channel_norm(Lowering& lowering) {
  if (!known(lowering, 1, 2)) return lowering.run_on_host(kComputedFactors);
  normalize_texels(lowering, Layout::channels4, lowering.output_type().shape,
                   lowering.op<ChannelNormalization>().epsilon);
}

void lower_group_norm(Lowering& lowering) {
  const GroupNormalization& op = lowering.op<GroupNormalization>();
  if (!known(lowering, 1, 2)) return lowering.run_on_host(kComputedFactors);
  const Shape& shape = lowering.output_type().shape;
  const int64_t image = product(shape, 1, shape.size());
  const int64_t factors = lowering.constant(1)->elements();  // one per group or one per channel
  normalize_rows(lowering, shape[0] * op.groups, image / op.groups, image / factors, op.epsilon);
}

void lower_lrn(Lowering& lowering) {
  const Lrn& op = lowering.op<Lrn>();
  const Shape& shape = lowering.output_type().shape;
  if (shape.size() > 4) return lowering.run_on_host("LRN of more than four dimensions has no kernel");
  const TensorId x = lowering.read(0, Layout::channels4), y = lowering.write(0, Layout::channels4);
  // A window beyond all channels is as good as one that takes them all.
  const int64_t size = std::min(op.size, 2 * shape[1] + 1);
  const float share = op.alpha / static_cast<float>(op.size);
  Dispatch dispatch =
      make_dispatch("lrn", grid_of_texels(lowering.caps(), shape), {reads("x", x), writes("y", y)},
                    LrnParameters{.y_shape = texel_shape(shape),
                                  .size = size,
                                  .alpha = share,
                                  .beta = op.beta,
                                  .bias = op.bias});
  constexpr int64_t kChannels = 4;
  const int64_t neighbours = std::min(slices(shape[1]), size / kChannels + 3);
  dispatch.iterations = loop_iterations(neighbours, loop_iterations(kChannels));
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

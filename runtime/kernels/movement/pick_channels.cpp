#include "graph/operators/movement/pick_channels.hpp"

#include <algorithm>

#include "kernels/framework/elements.hpp"
#include "program/divide.hpp"
#include "shaders/movement/pick_channels.h"

namespace vellum {

namespace {

// Defines the inputs of each of the four channels of texels, so that a texel loads only what it needs.
void define_sources(Dispatch& dispatch, const Ints& channels, int64_t first) {
  int from[4] = {0, 0, 0, 0};
  for (size_t i = 0; i < channels.size(); ++i) from[i % 4] |= channels[i] < first ? 1 : 2;
  for (size_t i = 0; i < 4; ++i)
    define(dispatch, "FROM_" + std::to_string(i), std::to_string(std::max(from[i], 1)));
}

}  // namespace

void lower_pick_channels(Lowering& lowering) {
  const Ints& channels = lowering.op<PickChannels>().channels;
  const bool two = lowering.has_input(1);
  const Shape& shape = lowering.output_type().shape;
  const Shape& second = lowering.input_type(two ? 1 : 0).shape;
  Ints padded = channels;
  padded.resize(static_cast<size_t>(4 * slices(shape[1])), 0);
  const auto count = static_cast<int64_t>(padded.size());
  const TensorId table =
      lowering.integer_weight(lowering.node().name + "/channels", {count}, std::move(padded));
  std::vector<Binding> bindings{reads("x", lowering.read(0, Layout::channels4)), reads("channels", table)};
  const TensorId y = lowering.write(0, Layout::channels4);
  bindings.push_back(writes("y", y));
  if (two) bindings.push_back(reads("x2", lowering.read(1, Layout::channels4)));
  Dispatch dispatch =
      make_dispatch("pick_channels", grid_of_texels(lowering.caps(), shape), std::move(bindings),
                    PickChannelsParameters{.x_shape = texel_shape(lowering.input_type(0).shape),
                                           .y_shape = texel_shape(shape),
                                           .x2_shape = texel_shape(second)});
  if (two) {
    define(dispatch, "TWO");
    define_sources(dispatch, channels, lowering.input_type(0).shape[1]);
  }
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

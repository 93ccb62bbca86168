#include "graph/operators/movement/cache_update.hpp"

#include <utility>

#include "graph/byte_rows.hpp"
#include "graph/operators/movement/tensor_scatter.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/framework/strided.hpp"
#include "shaders/movement/cache_update.h"

namespace vellum {

void lower_cache_update(Lowering& lowering) {
  const CacheUpdate& op = lowering.op<CacheUpdate>();
  const Shape& cache = lowering.output_type().shape;
  if (element_count(lowering.input_type(1).shape) == 0) return lowering.alias(0, 0);
  TensorScatter scatter;
  scatter.axis = op.axis;
  const bool quantises = op.packs_integers() && lowering.has_input(3);
  const TensorScatter::Extents e =
      scatter.extents(op.cache_type.shape, op.shape_in_cache(lowering.input_type(1).shape, quantises));
  const int64_t words = op.packs_integers() ? op.channels / 4 : words_of_byte_row(op.channels),
                token_rows = e.inner / op.channels;
  const TensorId data = lowering.read(0, Layout::linear), x = lowering.read(1, Layout::linear),
                 first_tokens = lowering.read(2, Layout::linear);
  const TensorId scale = !quantises             ? kNoTensor
                         : lowering.constant(3) ? lowering.constant_as_stored(3)
                                                : lowering.read(3, Layout::linear);
  TensorId y = lowering.update_state(0, 0);
  if (y == kNoTensor) {
    y = lowering.write(0, Layout::linear);
    strided_copy(lowering, data, y, {cache, {row_major_strides(cache)}}, 0);
  }
  Dispatch dispatch = make_dispatch(
      "cache_update", grid_1d(lowering.caps(), e.batch * e.outer * e.tokens * token_rows * words),
      {reads("x", x), reads("first_tokens", first_tokens), reads_and_writes("y", y)},
      CacheUpdateParameters{.batches = e.batch,
                            .outer = e.outer,
                            .capacity = e.capacity,
                            .tokens = e.tokens,
                            .token_rows = token_rows,
                            .slices4 = op.channels / 4});
  if (quantises) {
    dispatch.bindings.insert(dispatch.bindings.begin(), reads("scale", scale));
    define(dispatch, "QUANTISES");
    if (op.rows == RowFormat::nibbles) define(dispatch, "NIBBLES");
    if (element_count(lowering.input_type(3).shape) == 1) define(dispatch, "ONE_SCALE");
  } else if (op.packs_integers()) {
    define(dispatch, "INTEGERS");
  } else {
    dispatch.iterations = loop_iterations(op.channels / 4);
  }
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

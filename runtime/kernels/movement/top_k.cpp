// Lowers TopK with one of three algorithms: ranking all elements, selecting one element after another, or a
// merge sort that keeps the first k.
#include "shaders/movement/top_k.h"

#include <algorithm>

#include "cost/device_traits.hpp"
#include "graph/operators/movement/select_values.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/indexed.hpp"
#include "kernels/framework/iterations.hpp"
#include "program/divide.hpp"
#include "shaders/movement/top_k_merge.h"
#include "shaders/movement/top_k_runs.h"

namespace vellum {
namespace {

// The k best of each of `rows` rows of `length` elements, whose elements are `inner` apart.
struct RowsToSort {
  int64_t rows, length, inner, k;
  bool largest;
  TensorId x, indices;
};

enum class TopKAlgorithm : uint8_t { rank, select, merge };

// Returns the iterations of an invocation that ranks or selects.
uint64_t iterations_of(const RowsToSort& sort, TopKAlgorithm algorithm) {
  constexpr uint64_t kOfReduction = 8;  // by halves of the workgroup
  if (algorithm == TopKAlgorithm::rank) return loop_iterations(sort.length);
  return loop_iterations(sort.k, loop_iterations(divide_up(sort.length, kRowWorkgroup)) + kOfReduction);
}

bool is_within_bound(const DeviceCaps& caps, const RowsToSort& sort, TopKAlgorithm algorithm) {
  constexpr uint64_t kMostIterations = 65535;  // on GPUs, too
  return iterations_of(sort, algorithm) <= std::min<uint64_t>(kMostIterations, caps.max_loop_iterations);
}

// Chooses the algorithm. Ranking takes length^2 comparisons for each row in one dispatch, selection length *
// k comparisons one after the other, and merging length * log(k) comparisons in successive dispatches. The
// limits were measured on lavapipe.
TopKAlgorithm algorithm_for(const DeviceCaps& caps, const RowsToSort& sort) {
  constexpr int64_t kMostRanked = 256, kMostSelected = 8, kManySelected = 64;
  const bool ranks = (4 * sort.k >= sort.length && sort.length <= kMostRanked) ||
                     (sort.k > kManySelected && sort.length <= device_traits(caps).most_ranked_length);
  if (ranks && is_within_bound(caps, sort, TopKAlgorithm::rank)) return TopKAlgorithm::rank;
  const bool selects = sort.length <= kRowWorkgroup || sort.k <= kMostSelected;
  return selects && is_within_bound(caps, sort, TopKAlgorithm::select) ? TopKAlgorithm::select
                                                                       : TopKAlgorithm::merge;
}

void define_order(Dispatch& dispatch, const Lowering& lowering, const RowsToSort& sort) {
  if (!sort.largest) define(dispatch, "SMALLEST");
  define_element(dispatch, lowering.tensor(sort.x));
}

void rank_or_select(Lowering& lowering, const RowsToSort& sort, bool ranks) {
  Dispatch dispatch = make_dispatch(
      "top_k",
      ranks ? grid_1d(lowering.caps(), sort.rows * sort.length)
            : workgroups_in_a_row(lowering.caps(), sort.rows),
      {reads("x", sort.x), writes("y", sort.indices)},
      TopKParameters{.rows = sort.rows, .length = sort.length, .inner = sort.inner, .k = sort.k});
  if (ranks) define(dispatch, "RANKED");
  define_order(dispatch, lowering, sort);
  dispatch.iterations = iterations_of(sort, ranks ? TopKAlgorithm::rank : TopKAlgorithm::select);
  lowering.dispatch(std::move(dispatch));
}

// Sorted runs of all rows: each run has the best elements, at most `stride`, of `span` elements of a row.
struct Runs {
  int64_t count = 0, span = 0, stride = 0;  // count: of a row
  TensorId keys = kNoTensor, indices = kNoTensor;
};

void add_tensors(Lowering& lowering, const RowsToSort& sort, Runs& runs) {
  const std::string name = lowering.node().name + "/runs of " + std::to_string(runs.span);
  TensorDesc desc{{sort.rows * runs.count * runs.stride}, ElementType::i32, Storage::buffer, Layout::linear};
  runs.keys = lowering.workspace(name + "/keys", desc);
  runs.indices = lowering.workspace(name + "/indices", desc);
}

Runs sort_segments(Lowering& lowering, const RowsToSort& sort) {
  constexpr int64_t kSegment = 16;  // of top_k_runs.comp
  Runs runs{
      .count = divide_up(sort.length, kSegment), .span = kSegment, .stride = std::min(kSegment, sort.k)};
  add_tensors(lowering, sort, runs);
  Dispatch dispatch =
      make_dispatch("top_k_runs", grid_1d(lowering.caps(), sort.rows * runs.count * kSegment),
                    {reads("x", sort.x), writes("keys", runs.keys), writes("indices", runs.indices)},
                    TopKRunsParameters{.rows = sort.rows,
                                       .length = sort.length,
                                       .inner = sort.inner,
                                       .runs = runs.count,
                                       .kept = runs.stride});
  define_order(dispatch, lowering, sort);
  dispatch.iterations = loop_iterations(kSegment);
  lowering.dispatch(std::move(dispatch));
  return runs;
}

Runs merge_runs(Lowering& lowering, const RowsToSort& sort, const Runs& runs) {
  constexpr int64_t kMerged = 4;  // of top_k_merge.comp
  Runs merged{.count = divide_up(runs.count, kMerged), .span = runs.span * kMerged};
  merged.stride = std::min(merged.span, sort.k);
  const bool is_last = merged.count == 1;
  Dispatch dispatch =
      make_dispatch("top_k_merge", grid_1d(lowering.caps(), sort.rows * runs.count * runs.stride),
                    {reads("x_keys", runs.keys), reads("x_indices", runs.indices)},
                    TopKMergeParameters{.rows = sort.rows,
                                        .length = sort.length,
                                        .runs = runs.count,
                                        .span = runs.span,
                                        .stride = runs.stride,
                                        .kept = merged.stride,
                                        .inner = sort.inner});
  if (is_last) {
    dispatch.bindings.push_back(writes("y", sort.indices));
    define(dispatch, "LAST");
  } else {
    add_tensors(lowering, sort, merged);
    dispatch.bindings.push_back(writes("keys", merged.keys));
    dispatch.bindings.push_back(writes("indices", merged.indices));
  }
  constexpr int64_t kMostHalvings = 32;
  dispatch.iterations = loop_iterations(kMerged, loop_iterations(kMostHalvings));
  lowering.dispatch(std::move(dispatch));
  return merged;
}

}  // namespace

void lower_top_k(Lowering& lowering) {
  const TopK& op = lowering.op<TopK>();
  // The device compares integers as signed 32-bit integers.
  const DType dtype = lowering.input_type(0).dtype;
  if (dtype == DType::u32 || dtype == DType::u64)
    return lowering.run_on_host("TopK of unsigned 32-bit and wider integers has no kernel");
  const Shape &shape = lowering.input_type(0).shape, &chosen = lowering.output_type().shape;
  const size_t axis = normalize_axis(op.axis, shape.size());
  const IndexedLoops loops = loops_along(shape, chosen, axis);
  if (!fits_indexed(loops)) return lowering.run_on_host_for_rank();
  const TensorId x = lowering.read(0, Layout::linear), indices = lowering.write(1, Layout::linear);
  const RowsToSort sort{.rows = element_count(shape) / shape[axis],
                        .length = shape[axis],
                        .inner = product(shape, axis + 1, shape.size()),
                        .k = chosen[axis],
                        .largest = op.largest,
                        .x = x,
                        .indices = indices};
  const TopKAlgorithm algorithm = algorithm_for(lowering.caps(), sort);
  if (algorithm == TopKAlgorithm::merge) {
    Runs runs = sort_segments(lowering, sort);
    while (runs.count > 1) runs = merge_runs(lowering, sort, runs);
  } else {
    rank_or_select(lowering, sort, algorithm == TopKAlgorithm::rank);
  }
  if (lowering.is_read(0)) gather(lowering, x, indices, lowering.write(0, Layout::linear), loops);
}

}  // namespace vellum

#include "kernels/framework/shared_loop.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cost/device_traits.hpp"
#include "kernels/framework/elements.hpp"
#include "program/divide.hpp"

namespace vellum {
namespace {

// Returns whether invocations should share a loop: if one invocation for each result would leave most of the
// device idle, or if contiguous elements are better loaded together.
bool should_share(const DeviceCaps& caps, const SharedLoop& loop) {
  const bool worth_it =
      loop.along ? loop.length >= kRowWorkgroup / 4 : loop.length >= kRowWorkgroup && loop.results <= 4096;
  return worth_it && loop.results <= device_traits(caps).most_results_of_shared_loops;
}

bool can_join_by_subgroups(const DeviceCaps& caps) {
  return caps.subgroup_arithmetic && subgroups_fill_rows(caps);
}

KernelName name(LoopBy by) {
  switch (by) {
    case LoopBy::invocation:
      return {"invocation"};
    case LoopBy::subgroup:
      return {"subgroup"};
    case LoopBy::workgroup:
      return {"workgroup"};
    case LoopBy::workgroup_of_subgroups:
      return {"workgroup", "of subgroups"};
  }
  return {};
}

int64_t invocations_of_a_loop(const DeviceCaps& caps, LoopBy by) {
  switch (by) {
    case LoopBy::invocation:
      return 1;
    case LoopBy::subgroup:
      return caps.subgroup_size;
    default:
      return kRowWorkgroup;
  }
}

// Returns the iterations of an invocation. A loop over texels has two rounds more than its length if the
// first and the last texel belong only partly to the row.
uint64_t iterations(const DeviceCaps& caps, const SharedLoop& loop, LoopBy by) {
  constexpr uint64_t kOnce = 64;  // outside of the loop: reductions, and the offsets of a result
  const int64_t rounds = divide_up(loop.length, invocations_of_a_loop(caps, by)) + 2;
  return static_cast<uint64_t>(rounds) * loop.iterations + kOnce;
}

bool is_within_bound(const DeviceCaps& caps, const SharedLoop& loop, LoopBy by) {
  return iterations(caps, loop, by) <= caps.max_loop_iterations;
}

bool can_run(const DeviceCaps& caps, const SharedLoop& loop, LoopBy by) {
  switch (by) {
    case LoopBy::invocation:
      return true;
    case LoopBy::subgroup:
      return can_join_by_subgroups(caps) && loop.length >= caps.subgroup_size;
    case LoopBy::workgroup:
      return loop.length >= kRowWorkgroup;
    case LoopBy::workgroup_of_subgroups:
      return can_join_by_subgroups(caps) && loop.length >= kRowWorkgroup;
  }
  return false;
}

// Returns the choice that the cost model prefers, and the others that are worth a measurement.
std::vector<ParameterCandidate<LoopBy>> candidates(const DeviceCaps& caps, const SharedLoop& loop) {
  const LoopBy preferred = loop_by(caps, loop);
  std::vector<ParameterCandidate<LoopBy>> all{{name(preferred), 1, preferred}};
  if (!device_traits(caps).loops_by_subgroups) return all;
  for (const LoopBy by :
       {LoopBy::invocation, LoopBy::subgroup, LoopBy::workgroup_of_subgroups, LoopBy::workgroup})
    if (by != preferred && can_run(caps, loop, by) && is_within_bound(caps, loop, by))
      all.push_back({name(by), kOnlyIfMeasured, by});
  return all;
}

Grid grid_of_invocations(const DeviceCaps& caps, int64_t results) {
  const DeviceTraits& traits = device_traits(caps);
  const auto size = static_cast<uint32_t>(results <= traits.few_results ? traits.loop_workgroup_of_few
                                                                        : traits.loop_workgroup);
  Grid grid = workgroups_in_a_row(caps, divide_up(results, size));
  grid.workgroup_size[0] = size;
  return grid;
}

Grid grid_of_results(const DeviceCaps& caps, int64_t results, LoopBy by) {
  switch (by) {
    case LoopBy::invocation:
      return grid_of_invocations(caps, results);
    case LoopBy::subgroup:
      return workgroups_in_a_row(caps, divide_up(results, kRowWorkgroup / caps.subgroup_size));
    default:
      return workgroups_in_a_row(caps, results);
  }
}

}  // namespace

// Not measured on a GPU. Subgroup operations reduce sums faster than shared memory with its barriers
// (Luitjens, Faster parallel reductions on Kepler, 2014), and a subgroup is enough for rows of up to 1024
// elements (Guo et al., How to implement an efficient softmax CUDA kernel, OneFlow, 2021).
LoopBy loop_by(const DeviceCaps& caps, const SharedLoop& loop) {
  constexpr int64_t kRowOfSubgroup = 1024 / 4, kEnoughSubgroups = 256;
  const bool is_too_long = !is_within_bound(caps, loop, LoopBy::invocation);
  if (!should_share(caps, loop) && !is_too_long) return LoopBy::invocation;
  const bool by_subgroups = device_traits(caps).loops_by_subgroups && can_join_by_subgroups(caps);
  if (!by_subgroups) return LoopBy::workgroup;
  const bool is_for_a_subgroup = loop.length <= kRowOfSubgroup && loop.results >= kEnoughSubgroups &&
                                 is_within_bound(caps, loop, LoopBy::subgroup);
  return is_for_a_subgroup ? LoopBy::subgroup : LoopBy::workgroup_of_subgroups;
}

LoopBy choose_loop(Lowering& lowering, const SharedLoop& loop) {
  SharedLoop whole = loop;
  whole.results = lowering.of_whole(loop.results);
  const auto all = candidates(lowering.caps(), whole);
  return all.size() == 1 ? all.front().parameters : lowering.best_of(all);
}

Segments split_loop(const DeviceCaps& caps, const SharedLoop& loop) {
  // From this many iterations on, segments are at least as fast on lavapipe: they take 0.85 to 1.0 of the
  // time.
  constexpr uint64_t kMostIterations = 12288;
  constexpr int64_t kSegment = 4096;
  const uint64_t most = std::min<uint64_t>(kMostIterations, caps.max_loop_iterations);
  if (iterations(caps, loop, LoopBy::workgroup) <= most) return {.length = loop.length};
  const SharedLoop nothing{.iterations = loop.iterations};
  const uint64_t least = iterations(caps, nothing, LoopBy::invocation);
  const auto rounds = static_cast<int64_t>(most > least ? (most - least) / loop.iterations : 0);
  // A segment is short enough for one invocation. If that makes more segments than one workgroup can reduce,
  // a segment is as long as a workgroup can run.
  int64_t length = std::clamp<int64_t>(rounds, 1, kSegment);
  if (divide_up(loop.length, length) > kRowWorkgroup * rounds)
    length = kRowWorkgroup * std::max<int64_t>(rounds, 1);
  length = divide_up(loop.length, divide_up(loop.length, length));
  return {divide_up(loop.length, length), length};
}

SharedLoop loop_of_segments(const SharedLoop& loop, const Segments& segments) {
  SharedLoop one = loop;
  one.results = loop.results * segments.count;
  one.length = segments.length;
  return one;
}

Dispatch loop_dispatch(const DeviceCaps& caps, std::string shader, const SharedLoop& loop, LoopBy by,
                       std::vector<Binding> bindings, Parameters parameters) {
  Dispatch dispatch = make_dispatch(std::move(shader), grid_of_results(caps, loop.results, by),
                                    std::move(bindings), std::move(parameters));
  dispatch.iterations = iterations(caps, loop, by);
  if (by == LoopBy::subgroup) define(dispatch, "BY_SUBGROUPS");
  if (by == LoopBy::workgroup || by == LoopBy::workgroup_of_subgroups) define(dispatch, "COOPERATIVE");
  if (by == LoopBy::subgroup || by == LoopBy::workgroup_of_subgroups)
    dispatch.subgroup_size = caps.subgroup_size;
  return dispatch;
}

}  // namespace vellum

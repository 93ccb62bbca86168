#include "kernels/framework/shared_loop.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "caps/device_policy.hpp"
#include "kernels/framework/divide.hpp"
#include "kernels/framework/elements.hpp"

namespace vellum {
namespace {

// Where one invocation each would leave most of the device idle, or neighbours in memory are better loaded
// together.
bool should_share(const DeviceCaps& caps, const SharedLoop& loop) {
  const bool worth_it =
      loop.along ? loop.length >= kRowWorkgroup / 4 : loop.length >= kRowWorkgroup && loop.results <= 4096;
  return worth_it && device_policy(caps).shares_loops(loop.results);
}

bool can_join_by_subgroups(const DeviceCaps& caps) {
  return caps.subgroup_arithmetic && subgroups_fill_rows(caps);
}

std::string_view name(LoopBy by) {
  switch (by) {
    case LoopBy::invocation:
      return "alone";
    case LoopBy::subgroup:
      return "subgroup";
    case LoopBy::workgroup:
      return "workgroup";
    case LoopBy::workgroup_of_subgroups:
      return "workgroup of subgroups";
  }
  return "";
}

std::vector<LoopBy> ways(const DeviceCaps& caps, const SharedLoop& loop) {
  std::vector<LoopBy> ways{loop_by(caps, loop)};
  if (!device_policy(caps).runs_loops_by_subgroups()) return ways;
  const auto add = [&](LoopBy by) {
    if (by != ways.front()) ways.push_back(by);
  };
  add(LoopBy::invocation);
  if (can_join_by_subgroups(caps)) {
    if (loop.length >= caps.subgroup_size) add(LoopBy::subgroup);
    if (loop.length >= kRowWorkgroup) add(LoopBy::workgroup_of_subgroups);
  }
  if (loop.length >= kRowWorkgroup) add(LoopBy::workgroup);
  return ways;
}

Grid grid_of_invocations(const DeviceCaps& caps, int64_t results) {
  const uint32_t size = device_policy(caps).loop_workgroup(results);
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

// For GPUs nothing was measured. That registers of a subgroup put sums together quicker than shared memory
// and its barriers is what their makers say (Luitjens, Faster parallel reductions on Kepler, 2014); and that
// a subgroup is enough for rows of up to 1024 elements is what softmax kernels for them do (Guo et al., How
// to implement an efficient softmax CUDA kernel, OneFlow, 2021).
LoopBy loop_by(const DeviceCaps& caps, const SharedLoop& loop) {
  constexpr int64_t kRowOfSubgroup = 1024 / 4, kEnoughSubgroups = 256;
  if (!should_share(caps, loop)) return LoopBy::invocation;
  const bool by_subgroups = device_policy(caps).runs_loops_by_subgroups() && can_join_by_subgroups(caps);
  if (!by_subgroups) return LoopBy::workgroup;
  return loop.length <= kRowOfSubgroup && loop.results >= kEnoughSubgroups ? LoopBy::subgroup
                                                                           : LoopBy::workgroup_of_subgroups;
}

LoopBy choose_loop(Lowering& lowering, const SharedLoop& loop) {
  const std::vector<LoopBy> all = ways(lowering.caps(), loop);
  if (all.size() == 1) return all.front();
  std::vector<std::string> candidates;
  for (const LoopBy by : all) candidates.emplace_back(name(by));
  return all[lowering.choose(std::move(candidates))];
}

Dispatch loop_dispatch(const DeviceCaps& caps, std::string shader, int64_t results, LoopBy by,
                       std::vector<Binding> bindings, Parameters parameters) {
  Dispatch dispatch = make_dispatch(std::move(shader), grid_of_results(caps, results, by),
                                    std::move(bindings), std::move(parameters));
  if (by == LoopBy::subgroup) define(dispatch, "BY_SUBGROUPS");
  if (by == LoopBy::workgroup || by == LoopBy::workgroup_of_subgroups) define(dispatch, "COOPERATIVE");
  if (by == LoopBy::subgroup || by == LoopBy::workgroup_of_subgroups)
    dispatch.subgroup_size = caps.subgroup_size;
  return dispatch;
}

}  // namespace vellum

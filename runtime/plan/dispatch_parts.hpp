// Divides one dispatch into several, which compute ranges of its workgroups.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "program/program.hpp"

namespace vellum {

// Workgroups from `first` on, `count` along each axis.
struct WorkgroupRange {
  std::array<uint32_t, 3> first{}, count{};

  bool operator==(const WorkgroupRange&) const = default;
};

// Returns into how many ranges the workgroups can be divided; 1: they cannot. Workgroups that cooperate
// (Dispatch::workgroups_cooperate) cannot, and copies cannot.
uint32_t most_parts(const Dispatch& dispatch);

// Returns `parts` ranges, from 1 to most_parts(), which differ by at most one row of workgroups. Together
// they are all workgroups, in order. gl_WorkGroupID is the same as without division, and so is
// gl_NumWorkGroups wherever shaders use it: only along the divided axis it is the range's.
std::vector<WorkgroupRange> workgroup_ranges(const Dispatch& dispatch, uint32_t parts);

}  // namespace vellum

#include "plan/dispatch_parts.hpp"

#include <algorithm>

namespace vellum {
namespace {

// Shaders compute their row as gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x. A range along x
// would change it where there are several rows.
size_t divided_axis(const Dispatch& dispatch) {
  const std::array<uint32_t, 3>& count = dispatch.workgroup_count;
  if (count[1] <= 1 && count[2] <= 1) return 0;
  return count[2] > count[1] ? 2 : 1;
}

}  // namespace

uint32_t most_parts(const Dispatch& dispatch) {
  if (dispatch.copy || dispatch.workgroups_cooperate) return 1;
  return std::max(1u, dispatch.workgroup_count[divided_axis(dispatch)]);
}

std::vector<WorkgroupRange> workgroup_ranges(const Dispatch& dispatch, uint32_t parts) {
  const size_t axis = divided_axis(dispatch);
  const uint64_t rows = dispatch.workgroup_count[axis];
  std::vector<WorkgroupRange> ranges;
  for (uint64_t part = 0; part < parts; ++part) {
    WorkgroupRange range{{}, dispatch.workgroup_count};
    const uint64_t begin = rows * part / parts, end = rows * (part + 1) / parts;
    range.first[axis] = static_cast<uint32_t>(begin);
    range.count[axis] = static_cast<uint32_t>(end - begin);
    ranges.push_back(range);
  }
  return ranges;
}

}  // namespace vellum

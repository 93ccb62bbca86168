#include "kernels/framework/grid.hpp"

#include <algorithm>
#include <bit>

#include "program/divide.hpp"

namespace vellum {
namespace {

uint32_t groups(int64_t count, uint32_t size) {
  return static_cast<uint32_t>(std::max<int64_t>(1, (count + size - 1) / size));
}

}  // namespace

Grid grid_1d(const DeviceCaps& caps, int64_t count) {
  return workgroups_in_a_row(caps, groups(count, kRowWorkgroup));
}

Grid workgroups_in_a_row(const DeviceCaps& caps, int64_t count) {
  const uint32_t rows = groups(count, caps.max_workgroup_count[0]);
  return {{kRowWorkgroup, 1, 1}, {groups(count, rows), rows, 1}};
}

std::optional<Grid> grid_of_rows(const DeviceCaps& caps, int64_t columns, int64_t rows, int64_t layers) {
  const int64_t across = divide_up(columns, kRowWorkgroup);
  if (4 * columns < 3 * across * kRowWorkgroup) return std::nullopt;
  const std::array<int64_t, 3> count{across, rows, layers};
  Grid grid{{kRowWorkgroup, 1, 1}, {}};
  for (size_t i = 0; i < 3; ++i) {
    if (count[i] > caps.max_workgroup_count[i]) return std::nullopt;
    grid.workgroup_count[i] = static_cast<uint32_t>(count[i]);
  }
  return grid;
}

bool subgroups_fill_rows(const DeviceCaps& caps) {
  const uint32_t size = caps.subgroup_size;
  return caps.full_subgroups && size >= 4 && size <= kRowWorkgroup && kRowWorkgroup % size == 0;
}

Grid grid_3d(const DeviceCaps&, int64_t width, int64_t height, int64_t depth) {
  Grid grid;
  // Narrow images take 8 along x (the least that fills the lanes of CPU drivers) and more rows. Two rows of
  // 32 are a fifth faster on lavapipe than four of 16.
  const uint32_t x = width > 16 ? 32 : width > 8 ? 16 : 8;
  grid.is_box = true;
  grid.workgroup_size = {x, kRowWorkgroup / x, 1};
  grid.workgroup_count = {groups(width, x), groups(height, kRowWorkgroup / x), groups(depth, 1)};
  return grid;
}

Grid grid_of_slices(int64_t depth) {
  const uint32_t z = depth < kRowWorkgroup ? std::bit_ceil(static_cast<uint32_t>(std::max<int64_t>(depth, 1)))
                                           : kRowWorkgroup;
  return {{1, 1, z}, {1, 1, groups(depth, z)}};
}

}  // namespace vellum

// Workgroup sizes and counts of dispatches.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "caps/device_caps.hpp"

namespace vellum {

// The workgroup size of grid_1d(): a multiple of every common subgroup size, within every device's limit.
inline constexpr uint32_t kRowWorkgroup = 64;

struct Grid {
  std::array<uint32_t, 3> workgroup_size{1, 1, 1};
  std::array<uint32_t, 3> workgroup_count{1, 1, 1};
  bool is_box = false;  // the invocations form a box, which workgroups of other shapes may cover as well
};

// Returns a grid of `count` invocations along x, wrapped over y if x would exceed the device's limit. The
// shader gets its index from flat_index() in tensor.glsl and must compare it with its count.
Grid grid_1d(const DeviceCaps& caps, int64_t count);
// Returns a grid of `count` workgroups, at least one, wrapped over y as in grid_1d().
Grid workgroups_in_a_row(const DeviceCaps& caps, int64_t count);

// Returns a grid of `columns` invocations for each of rows x layers, in which all invocations of a workgroup
// have the same row and layer. Returns nothing if more than a quarter of the invocations would be idle beyond
// the end of the row, or if the device does not allow that many workgroups.
std::optional<Grid> grid_of_rows(const DeviceCaps& caps, int64_t columns, int64_t rows, int64_t layers);

// Returns whether the device supports full subgroups of a size that divides these workgroups.
bool subgroups_fill_rows(const DeviceCaps& caps);

// Returns a box of width x height x depth invocations. Workgroups are widest along x, the axis that is
// contiguous in memory.
Grid grid_3d(const DeviceCaps& caps, int64_t width, int64_t height, int64_t depth);

// Returns a grid of 1 x 1 x depth invocations in workgroups along z.
Grid grid_of_slices(int64_t depth);

}  // namespace vellum

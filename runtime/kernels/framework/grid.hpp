// Workgroup counts.
#pragma once

#include <array>
#include <cstdint>

#include "caps/device_caps.hpp"

namespace vellum {

// Of the workgroups of grid_1d(): a multiple of every common subgroup size, within every device's limit.
inline constexpr uint32_t kRowWorkgroup = 64;

struct Grid {
  std::array<uint32_t, 3> workgroup_size{1, 1, 1};
  std::array<uint32_t, 3> workgroup_count{1, 1, 1};
};

// `count` invocations in a row, wrapped over y where x would exceed the device's limit: the shader gets its
// index from flat_index() in tensor.glsl and must compare it with its count.
Grid grid_1d(const DeviceCaps& caps, int64_t count);
// The same of `count` workgroups, at least one.
Grid workgroups_in_a_row(const DeviceCaps& caps, int64_t count);

// Whether subgroups can be full, and of a size that divides these workgroups.
bool subgroups_fill_rows(const DeviceCaps& caps);

// width x height x depth invocations in workgroups that are wide along x, where neighbours in memory lie.
Grid grid_3d(const DeviceCaps& caps, int64_t width, int64_t height, int64_t depth);

}  // namespace vellum

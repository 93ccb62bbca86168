// Rewrites a program so that it needs less memory, with the same results bit for bit (docs/memory.md).
#pragma once

#include <cstdint>

#include "plan/memory_needs.hpp"
#include "plan/row_texels.hpp"
#include "program/program.hpp"
#include "vellum/options.hpp"

namespace vellum {

struct ArrangeOptions {
  MemoryMode mode = MemoryMode::shared_objects;  // mode naive changes nothing
  bool in_place = true, views = true, reorder = true;
  bool fold = true;  // images of two dimensions, in mode shared_objects
  RowTexelLimits row_texels = {};
};

// Applies in-place aliasing, views and reordering. Each is kept only if the smallest plan of the memory mode
// (without search) does not grow, and so are matrices accessed without conversions (row_texels.hpp). Folds
// images if that makes the plan at least 5% smaller. `view_alignment`: the alignment of offsets of storage
// buffer bindings, in bytes.
void arrange(Program& program, const ArrangeOptions& options, uint64_t view_alignment,
             const MemoryRules& rules);

}  // namespace vellum

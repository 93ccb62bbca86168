// Program -> the same program in less memory, with the same results bit for bit.
#pragma once

#include <cstdint>

#include "program/program.hpp"
#include "plan/memory_needs.hpp"
#include "vellum/options.hpp"

namespace vellum {

struct ArrangeOptions {
  MemoryMode mode = MemoryMode::shared_objects;  // nothing is done in mode naive
  bool in_place = true, views = true, reorder = true;
};

// Each of the ways is used only where the mode's smallest plan (without search) gets no larger by it.
// `view_alignment`: of offsets of storage buffer bindings.
void arrange(Program& program, const ArrangeOptions& options, uint64_t view_alignment,
             const MemoryRules& rules);

}  // namespace vellum

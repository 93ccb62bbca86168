// The findings that a rewritten shader reports while it runs, in a buffer that findings.hpp binds.
#pragma once

#include <cstdint>
#include <vector>

#include "worst_device/spirv_builder.hpp"

namespace vellum::test {

// The faults of shaders that run-time checks find. Zero is none.
enum class Finding : uint32_t { conflicting_accesses = 1, signed_overflow = 2 };

// The buffer has a word for each slot, which holds findings as bits.
inline constexpr uint32_t kFindingSlots = 4099;  // a length that no array of a shader has
inline constexpr uint32_t kFindingSet = 1;       // of descriptors; binding 0

class FindingMarks {
 public:
  FindingMarks(SpirvModule& module, SpirvBuilder& builder, uint32_t slot);

  // Appends instructions that note the finding in invocations where the condition, a bool, holds.
  void mark(std::vector<Instruction>& to, uint32_t condition, Finding finding);
  // Reports what was noted at the end of each invocation. `before` runs first in each. Before the builder's
  // finish().
  void finish(std::vector<Instruction> before);

 private:
  uint32_t number(uint32_t value) { return builder_.constant(builder_.uint_type(), value); }
  uint32_t log_variable();

  SpirvModule& module_;
  SpirvBuilder& builder_;
  const uint32_t slot_;
  const uint32_t found_;  // a private variable
};

}  // namespace vellum::test

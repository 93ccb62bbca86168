// Rewrites shaders so that they compute what the specification allows a device to compute and drivers for
// CPUs never do (Vulkan specification, "Precision and Operation of SPIR-V Instructions").
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace vellum::test {

struct Allowances {
  // a / b is a times a reciprocal that is one unit in the last place too small: within the 2.5 that are
  // allowed. Divisions of 32-bit floats only.
  bool division = false;
  // exp, exp2, log, log2, pow, sqrt and inversesqrt of 32-bit floats are two units in the last place too
  // small. Fewer are allowed to none of them but sqrt of a device with an exact one.
  bool functions = false;
  // Conversion of 32-bit floats to halves rounds toward zero.
  bool truncating_halves = false;
  // isnan and isinf are false, unless the shader declares SignedZeroInfNanPreserve.
  bool no_special_values = false;
  // Variables have arbitrary values before they are assigned.
  bool uninitialised_variables = false;
  // Shared memory has arbitrary contents at the beginning of a workgroup (shared_garbage.hpp).
  bool uninitialised_shared = false;
  // New device memory holds arbitrary values: NaN in floats and halves, -1 in integers.
  bool uninitialised_memory = false;
  // Workgroups run in an order of their own (execution_order.hpp): from the last to the first, or mixed.
  bool reversed_workgroups = false;
  bool mixed_workgroups = false;
  // Invocations between two barriers run from the last to the first.
  bool reversed_invocations = false;
  // Reads beyond the end of a buffer or image give NaN (out_of_bounds.hpp).
  bool out_of_bounds = false;
  // Memory of an earlier tensor or run holds NaN before a tensor's first write (exec/poison.hpp).
  bool recycled_memory = false;
  // The host maps little of the device's memory (bar_heap.hpp).
  bool bar_heap = false;
  // Conflicting accesses of shared memory, and overflow of signed integers, are reported (findings.hpp).
  bool shared_races = false;
  bool signed_overflow = false;
  // Not 0: subgroups have this size (subgroups.hpp).
  uint32_t subgroup_size = 0;

  bool has_findings() const { return shared_races || signed_overflow; }
};

// Returns the allowances named by a comma-separated list such as "division,functions", or for "all" all of
// them except for a size of subgroups, which is "subgroups_32" or another power of two up to 128. Throws
// std::runtime_error for another name.
Allowances parse_allowances(std::string_view list);

// The slot of the module's findings.
uint32_t finding_slot(std::span<const uint32_t> module);

// Returns the module with the allowances used, all but those of memory. Of two orders of workgroups the mixed
// one is taken.
std::vector<uint32_t> pessimise(std::span<const uint32_t> module, const Allowances& allowances);

}  // namespace vellum::test

// The amount of work that a shader causes in a driver's compiler.
#pragma once

#include <cstdint>
#include <span>

namespace vellum {

// The largest count for one shader: far beyond what any compiler can process.
constexpr uint64_t kMostOperations = 1 << 20;

// Counts the scalar operations of the entry point of a SPIR-V module. A called function counts at each call,
// a vector operation once per component. The body of a loop with the Unroll hint counts once per iteration,
// if its counter runs from a constant to a constant. Returns 0 for words that are not valid SPIR-V.
uint64_t unrolled_operations(std::span<const uint32_t> spirv);

}  // namespace vellum

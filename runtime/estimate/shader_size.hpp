// The work that a shader is for a driver's compiler.
#pragma once

#include <cstdint>
#include <span>

namespace vellum {

// The largest count for one shader: far beyond what any compiler can process.
constexpr uint64_t kMostOperations = 1 << 20;

// Scalar operations of the entry point of a SPIR-V module. A called function counts at each call, a vector
// operation once per component, and the body of a loop that is to be unrolled once per iteration, if its
// counter runs from a constant to a constant. 0 for words that are not valid SPIR-V.
uint64_t unrolled_operations(std::span<const uint32_t> spirv);

}  // namespace vellum

// How much a driver's compiler gets to do with a shader.
#pragma once

#include <cstdint>
#include <span>

namespace vellum {

// The most that is told of a shader: far beyond what any compiler gets through.
constexpr uint64_t kMostOperations = 1 << 20;

// Operations of the entry point of SPIR-V, as scalars: what is called counts where it is called, a vector's
// components each, and loops that are to be unrolled as often as their bodies run, where glslang's code tells
// how often: counters from a constant to a constant. 0 for what is no SPIR-V or does not hold together;
// compilers of drivers see the same words, and are trusted no more with them.
uint64_t unrolled_operations(std::span<const uint32_t> spirv);

}  // namespace vellum

// Keeps glslang's tables for the whole test program. Otherwise each device that a test opens builds them anew,
// in 30 to 95 ms, because the last device frees them when it closes.
#pragma once

#include "vulkan/glslang_compiler.hpp"

namespace vellum::test {

inline const gpu::GlslangProcess kept_glslang_tables;

}  // namespace vellum::test

// The bindings that a shader may write to.
#pragma once

#include <cstdint>
#include <set>
#include <span>

namespace vellum::test {

// Those of storage buffers and images that the shader does not declare readonly.
std::set<uint32_t> written_bindings(std::span<const uint32_t> spirv);

}  // namespace vellum::test

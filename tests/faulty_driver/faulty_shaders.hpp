// What the imitated drivers ask of shaders, and do to them.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace vellum::test {

// The bindings that the shader may write to: those of storage buffers and images that the shader does not
// declare readonly.
std::set<uint32_t> written_bindings(std::span<const uint32_t> spirv);
bool has_local_size(std::span<const uint32_t> spirv, const std::array<uint32_t, 3>& size);
// The shader as a wrong compiler makes it: vectors are multiplied where they should be added.
std::vector<uint32_t> with_wrong_sums(std::span<const uint32_t> spirv);

}  // namespace vellum::test

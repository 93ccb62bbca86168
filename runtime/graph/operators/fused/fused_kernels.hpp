// Identifiers of the kernels that compute several nodes. fused_kernels.def is their table.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace vellum {

enum class FusedKernelId : uint8_t {
#define VELLUM_FUSED_KERNEL(id, type, rank, falls_back, match, lower) id,
#include "graph/operators/fused/fused_kernels.def"
#undef VELLUM_FUSED_KERNEL
};

// Returns the name of a kernel in files: "separable".
std::string_view name(FusedKernelId id);
std::optional<FusedKernelId> fused_kernel_from_name(std::string_view name);

}  // namespace vellum

// The execution provider of one session of the runtime.
#pragma once

#include "options.hpp"
#include "runtime_api.hpp"
#include "vellum/vellum.hpp"

namespace vellum::ort {

inline constexpr const char* kProviderName = "VellumExecutionProvider";

// Returns a provider, which release_provider() frees.
OrtEp* make_provider(const Device& device, const ProviderOptions& options, const OrtLogger* logger);
void release_provider(OrtEp* provider) noexcept;

}  // namespace vellum::ort

// Fits the figures of a driver on the CPU (ProcessTraits) to what probes took of the process.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "caps/device_caps.hpp"

namespace vellum {

// The work of a driver's compiler, as estimate/shader_size.hpp counts it.
struct CompiledWork {
  uint64_t operations = 0;          // of all pipelines
  uint64_t largest_operations = 0;  // of the largest
};

struct DriverSample {
  CompiledWork work;   // of all pipelines so far
  uint64_t bytes = 0;  // the growth of the process at its peak so far, without what Vellum knows the size of
};

// Returns the figures with the least sum of squares of errors, none of them negative. Throws
// Error(unsupported) unless they agree with each sample within a tenth: of drivers whose memory grows
// otherwise with what they compile (SwiftShader's grows with the square of the largest pipeline) nothing is
// known.
ProcessTraits fit_process_traits(std::span<const DriverSample> samples);

// Returns what a driver with these figures takes for pipelines of this work, besides driver_bytes.
uint64_t pipeline_bytes(const ProcessTraits& traits, const CompiledWork& work);

// Returns the bounds of what the driver takes in all where the figures were not measured on `host`, or with
// much less or more work; otherwise nothing.
std::optional<std::pair<uint64_t, uint64_t>> uncertain_driver_bytes(const ProcessTraits& traits,
                                                                    const CompiledWork& work,
                                                                    std::string_view host);

}  // namespace vellum

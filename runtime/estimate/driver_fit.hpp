// Fits the figures of a driver on the CPU (ProcessTraits) to the process memory that probes took.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "caps/device_caps.hpp"

namespace vellum {

// The work of a driver's compiler in scalar operations, as estimate/shader_size.hpp counts them.
struct CompiledWork {
  uint64_t operations = 0;          // sum over all pipelines
  uint64_t largest_operations = 0;  // of the largest pipeline
};

struct DriverSample {
  CompiledWork work;   // of all pipelines so far
  uint64_t bytes = 0;  // peak growth of the process so far, without memory of known size
};

// Returns the least-squares fit with non-negative figures. Throws Error(unsupported) if a sample deviates by
// more than a tenth: the model does not hold for drivers whose memory does not grow linearly with the work
// (SwiftShader's grows with the square of the largest pipeline).
ProcessTraits fit_process_traits(std::span<const DriverSample> samples);

// Returns the bytes that a driver with these figures takes for pipelines of this work, in addition to
// driver_bytes.
uint64_t pipeline_bytes(const ProcessTraits& traits, const CompiledWork& work);

// Returns bounds for the driver's total bytes if the figures were not measured on `host`, or were measured
// with much less or more work. Otherwise returns nothing.
std::optional<std::pair<uint64_t, uint64_t>> uncertain_driver_bytes(const ProcessTraits& traits,
                                                                    const CompiledWork& work,
                                                                    std::string_view host);

}  // namespace vellum

// Operators of sizes at which drivers are known to fail that compute small shapes rightly (docs/drivers.md,
// rows 16, 40 and 43 to 45).
#pragma once

#include <cstdint>
#include <vector>

#include "caps/device_caps.hpp"
#include "program/program.hpp"
#include "selfcheck/small_operator.hpp"

namespace vellum {

enum class SizeClass : uint8_t {
  long_loop,        // an invocation's loops have thousands of iterations
  many_workgroups,  // tens of thousands along one axis
  large_image,      // an image with an extent near the device's limit
};
inline constexpr SizeClass kSizeClasses[] = {SizeClass::long_loop, SizeClass::many_workgroups,
                                             SizeClass::large_image};

// "long loops"
const char* name(SizeClass size);

// Returns whether the dispatch is of this class; images as on a device of these caps.
bool has_size(const Program& program, const Dispatch& dispatch, SizeClass size, const DeviceCaps& caps);

// Returns operators, several of whose kernels are of this class, with little work for the host: some
// milliseconds. thorough: also those that take tens of megabytes.
std::vector<SmallOperator> sized_operators(SizeClass size, const DeviceCaps& caps, bool thorough = false);

}  // namespace vellum

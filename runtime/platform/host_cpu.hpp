// The name of this machine's processor: measurements of a driver on the CPU are valid for one processor only.
#pragma once

#include <string>

namespace vellum::platform {

// Returns the processor's name and its number of hardware threads: "AMD EPYC 9R14, family 25 model 17, 2
// threads". If the system does not report the name, returns the architecture.
std::string host_cpu();

}  // namespace vellum::platform

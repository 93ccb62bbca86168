// The processor that this process runs on, as figures that were measured on one hold on no other.
#pragma once

#include <string>

namespace vellum::platform {

// Returns the processor's name and how many threads it runs at a time, "AMD EPYC 9R14, family 25 model 17, 2
// threads". A system that does not report the name gives the architecture.
std::string host_cpu();

}  // namespace vellum::platform

// The options of the device that the arguments name, for callers that open it themselves.
#pragma once

#include "options.hpp"

namespace vellum::cli {

// Warnings and errors of the library go to stderr.
DeviceOptions device_options(const Options& options);

}  // namespace vellum::cli

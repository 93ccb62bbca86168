// The device that the options name, for who opens it himself.
#pragma once

#include "options.hpp"

namespace vellum::cli {

// Warnings and errors of the library go to stderr.
DeviceOptions device_options(const Options& options);

}  // namespace vellum::cli

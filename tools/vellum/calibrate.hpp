// `vellum devices --calibrate`, and the calibration before the first `vellum estimate --measure`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "options.hpp"
#include "vellum/estimate.hpp"

namespace vellum::cli {

// Calibrates the device that the options name, and stores the figures in the cache folder. `meter`:
// constructed at the beginning of the process, which must not have used Vulkan.
MemoryCalibration calibrate(const MemoryMeter& meter, const Options& options);
std::string to_text(const MemoryCalibration& calibration, const std::string& cache);
nlohmann::json to_json(const MemoryCalibration& calibration);

// Calibrates in a separate, silent process, if the system can start this program again. A failure is ignored;
// estimates are then intervals.
void calibrate_in_subprocess(const Options& options);

}  // namespace vellum::cli

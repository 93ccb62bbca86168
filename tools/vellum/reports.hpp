// Files of `vellum doctor --report` and `vellum bench --report`, which users of other devices send in;
// docs/first_gpu.md describes their members. They contain neither user names nor names of machines or
// folders.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "layer_times.hpp"
#include "vellum/kernels.hpp"
#include "vellum/vellum.hpp"

namespace vellum::cli {

// The members that all reports have. `kind`: "doctor" or "bench".
nlohmann::json report_head(const std::string& kind, const Device& device);

// The rates, pipelines and dispatches of a bench report. The times stay empty if the layers are not those of
// the kernels.
nlohmann::json dispatches_report(const Device& device, const KernelReport& kernels, const LayerTimes& times);

}  // namespace vellum::cli

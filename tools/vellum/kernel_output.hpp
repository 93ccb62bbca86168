// Formats a kernel report as text and JSON: the output of `vellum inspect --stage kernels`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "io/file_name.hpp"
#include "vellum/kernels.hpp"

namespace vellum::cli {

std::string kernels_text(const KernelReport& report);
nlohmann::json kernels_json(const KernelReport& report);
nlohmann::json rates_json(const std::optional<DeviceRates>& rates);
// JSON null for NaN.
nlohmann::json figure_json(double value);

// Writes each pipeline's representations to FOLDER/PIPELINE.CODE.txt (both are numbers).
void write_code(const KernelReport& report, const io::FileName& folder);

}  // namespace vellum::cli

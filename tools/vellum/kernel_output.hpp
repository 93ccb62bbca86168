// How `vellum inspect --stage kernels` shows a kernel report.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "io/file_name.hpp"
#include "vellum/kernels.hpp"

namespace vellum::cli {

std::string kernels_text(const KernelReport& report);
nlohmann::json kernels_json(const KernelReport& report);

// Writes each pipeline's representations to FOLDER/PIPELINE.CODE.txt (both are numbers).
void write_code(const KernelReport& report, const io::FileName& folder);

}  // namespace vellum::cli

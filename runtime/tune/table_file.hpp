// A TuningTable on disk: JSON, one file for each device, driver and state of the kernels.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "caps/device_caps.hpp"
#include "kernels/framework/choice.hpp"
#include "vellum/log.hpp"

namespace vellum {

// What a table was measured with: the device as Vellum sees it, limits included, its driver, and Vellum's
// kernels. A table of another key says nothing.
std::string tuning_key(const DeviceCaps& caps);

// {"vellum_tuning": version, "key": ..., "device": ..., "driver": ...,
//  "operators": {signature: {candidate: microseconds}}, "storages": {network: a letter for each value}}
std::string to_json(const TuningTable& table, const DeviceCaps& caps);

// Nothing unless the whole document is what to_json() writes for that key: files may be damaged, or of
// anything.
std::optional<TuningTable> table_from_json(std::string_view text, std::string_view key);

std::filesystem::path table_path(const std::filesystem::path& folder, const DeviceCaps& caps);

// An empty table where there is no file for the device, or one that cannot be believed, which is logged.
TuningTable read_table(const std::filesystem::path& folder, const DeviceCaps& caps, const LogCallback& log);

// Atomically. Error(io) if the folder cannot be written.
void write_table(const std::filesystem::path& folder, const DeviceCaps& caps, const TuningTable& table);

}  // namespace vellum

// Reads and writes tuning tables on disk: JSON, one file for each device, driver and version of the kernels.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "caps/device_caps.hpp"
#include "kernels/framework/choice.hpp"
#include "vellum/log.hpp"

namespace vellum {

// {"vellum_tuning": version, "key": ..., "device": ..., "driver": ...,
//  "operators": {signature: {candidate: microseconds}}, "storages": {network: a letter for each value}}
std::string to_json(const TuningTable& table, const DeviceCaps& caps);

// Parses the output of to_json(). Returns nothing unless the whole document is valid and has this key (from
// kernels_key()), because the file may be damaged or of another kind.
std::optional<TuningTable> table_from_json(std::string_view text, std::string_view key);

std::filesystem::path table_path(const std::filesystem::path& folder, const DeviceCaps& caps);

// Reads the table of a device. Returns an empty table if there is no file. An invalid file is logged and
// ignored.
TuningTable read_table(const std::filesystem::path& folder, const DeviceCaps& caps, const LogCallback& log);

// Writes the table atomically. Throws Error(io) if the folder cannot be written.
void write_table(const std::filesystem::path& folder, const DeviceCaps& caps, const TuningTable& table);

}  // namespace vellum

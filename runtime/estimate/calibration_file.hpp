// The results of MemoryMeter::calibrate() on disk: one file for each device, driver, processor and version of
// Vellum.
#pragma once

#include <filesystem>
#include <optional>

#include "caps/device_caps.hpp"
#include "vellum/log.hpp"

namespace vellum {

std::filesystem::path calibration_path(const std::filesystem::path& folder, const DeviceCaps& caps);

// Returns nothing if there is no file, or if the file is damaged, is of another device or processor, or can
// be written by other users. A file that is ignored is logged as a warning.
std::optional<ProcessTraits> read_calibration(const std::filesystem::path& folder, const DeviceCaps& caps,
                                              const LogCallback& log);

// Writes the file atomically. Throws Error(io) if the folder cannot be written.
void write_calibration(const std::filesystem::path& folder, const DeviceCaps& caps,
                       const ProcessTraits& traits);

}  // namespace vellum

#include "estimate/calibration_file.hpp"

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "platform/host_cpu.hpp"
#include "platform/sha256.hpp"
#include "vellum/vellum.h"
#include "vulkan/cache_file.hpp"

namespace vellum {
namespace {

// The figures in the order of the file. They have the machine's byte order, because the file is only for this
// machine.
using Figures = std::array<uint64_t, 5>;

// Returns what identifies the device in the file. Limits are left out, because an application may lower them.
platform::Sha256Digest calibration_key(const DeviceCaps& caps) {
  platform::Sha256 hash;
  hash.add_string("memory calibration 1")
      .add_string(caps.name)
      .add_string(caps.driver)
      .add_string(platform::host_cpu())
      .add_string(std::to_string(VELLUM_VERSION));
  for (const uint32_t number : {caps.vendor_id, caps.device_id, caps.driver_version, caps.api_version})
    hash.add_string(std::to_string(number));
  hash.add(std::as_bytes(std::span(caps.pipeline_cache_uuid)));
  return hash.finish();
}

std::filesystem::path path_of(const std::filesystem::path& folder, const platform::Sha256Digest& key) {
  return folder / ("memory-" + platform::to_hex(key).substr(0, 16));
}

}  // namespace

std::filesystem::path calibration_path(const std::filesystem::path& folder, const DeviceCaps& caps) {
  return path_of(folder, calibration_key(caps));
}

std::optional<ProcessTraits> read_calibration(const std::filesystem::path& folder, const DeviceCaps& caps,
                                              const LogCallback& log) {
  const platform::Sha256Digest key = calibration_key(caps);
  const std::optional<std::vector<std::byte>> bytes = gpu::read_cache_file(path_of(folder, key), key, log);
  Figures figures;
  if (!bytes || bytes->size() != sizeof figures) return std::nullopt;
  std::memcpy(figures.data(), bytes->data(), sizeof figures);
  ProcessTraits traits;
  traits.host = platform::host_cpu();
  traits.driver_bytes = figures[0];
  traits.bytes_per_operation = static_cast<uint32_t>(figures[1]);
  traits.bytes_per_operation_of_largest = static_cast<uint32_t>(figures[2]);
  traits.fitted_operations = {figures[3], figures[4]};
  return traits;
}

void write_calibration(const std::filesystem::path& folder, const DeviceCaps& caps,
                       const ProcessTraits& traits) {
  const Figures figures{traits.driver_bytes, traits.bytes_per_operation,
                        traits.bytes_per_operation_of_largest, traits.fitted_operations[0],
                        traits.fitted_operations[1]};
  const platform::Sha256Digest key = calibration_key(caps);
  gpu::write_cache_file(path_of(folder, key), key, std::as_bytes(std::span(figures)));
}

}  // namespace vellum

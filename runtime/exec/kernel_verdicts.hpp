// Results of the self-checks of a device's kernels, in memory and on disk. Files are JSON, one for each
// device, driver and version of the kernels, like tuning tables.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "caps/device_caps.hpp"
#include "kernels/framework/kernel_id.hpp"
#include "vellum/log.hpp"

namespace vellum {

// Kernels are identified by KernelId::text(). A kernel that large operators checked has another entry among
// the right or unchecked ones for each size: "<text> | long loops".
struct KernelVerdicts {
  std::set<std::string, std::less<>> right;
  // Kernels that no small test case runs, so nothing is known about them.
  std::set<std::string, std::less<>> unchecked;
  WrongKernels wrong;
  // Whether tensors may share memory (selfcheck/reuse_check.hpp). Empty: not known.
  std::optional<bool> may_share_memory = {};
  // DeviceCaps::packs_halves, as selfcheck/halves_check.hpp found it. Empty: not known.
  std::optional<bool> packs_halves = {};

  bool knows(std::string_view kernel) const {
    return right.contains(kernel) || unchecked.contains(kernel) || wrong.contains(kernel);
  }
  bool operator==(const KernelVerdicts&) const = default;
};

// {"vellum_self_check": version, "key": ..., "device": ..., "driver": ...,
//  "kernels": {kernel: true (right), null (unchecked), or an object that says why it is wrong},
//  "may_share_memory": true, false or null, "packs_halves": the same}
std::string to_json(const KernelVerdicts& verdicts, const DeviceCaps& caps);
// Parses the output of to_json(). Returns nothing unless the whole document is valid and for these caps.
std::optional<KernelVerdicts> verdicts_from_json(std::string_view text, const DeviceCaps& caps);

std::filesystem::path verdicts_path(const std::filesystem::path& folder, const DeviceCaps& caps);
// Returns no verdicts if there is no file. An invalid or untrusted file is logged and ignored.
KernelVerdicts read_verdicts(const std::filesystem::path& folder, const DeviceCaps& caps,
                             const LogCallback& log);
// Writes the file atomically. Throws Error(io) if the folder cannot be written.
void write_verdicts(const std::filesystem::path& folder, const DeviceCaps& caps,
                    const KernelVerdicts& verdicts);

}  // namespace vellum

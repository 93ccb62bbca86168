// Limits on what a model file may ask of the machine that loads it: the contract for untrusted files
// (SECURITY.md).
#pragma once

#include <cstdint>
#include <filesystem>

namespace vellum {

// A file that exceeds a limit is refused with Error(unsupported), which names the limit. No known model comes
// near the defaults. The limits hold for everything that is done with the model, sessions included.
struct LoadLimits {
  // Nodes of all graphs of the file, branches included.
  uint64_t nodes = 1 << 17;
  // Elements of one tensor; at most 2^31.
  uint64_t elements = uint64_t{1} << 31;
  // Bytes of constants that are computed while the model is loaded, beside eight times the file's own
  // constants. Operators whose constant results would exceed it are left to the device.
  uint64_t folded_bytes = uint64_t{512} << 20;
  // Elementary operations (about a nanosecond each) that the model's constants take, while it is loaded and
  // on the device, beside 64 for each byte of the file's own constants.
  uint64_t folded_work = 2'000'000'000;
  // Graphs within graphs: the branches of If.
  uint32_t nesting = 16;
  // No limit, but a statement of the caller, who has made sure where the file comes from: it is a part of the
  // app's signed package, or the app has checked a signature of the bytes. SPIR-V of a bundle then reaches
  // the driver without SPIRV-Tools' validator, which takes two milliseconds a shader at the first load.
  bool trusts_shaders = false;
  // Nor is this a limit: a folder whose files the caller lets the model read. External data of an ONNX file
  // may be symbolic links to files below it, as in caches of model hubs, whose models/NAME/snapshots/... are
  // links into models/NAME/blobs. Empty: links must stay in the model's own folder.
  std::filesystem::path links_within = {};
};

}  // namespace vellum

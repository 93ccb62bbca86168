// Limits on the resources that a model file may use while it is loaded and run: the contract for untrusted
// files (SECURITY.md).
#pragma once

#include <cstdint>
#include <filesystem>

namespace vellum {

// A file that exceeds a limit is refused with Error(unsupported), which names the limit. No known model comes
// near the defaults. The limits apply to everything that is done with the model, sessions included.
struct LoadLimits {
  // Nodes of all graphs of the file, branches included.
  uint64_t nodes = 1 << 17;
  // Elements of one tensor; at most 2^31.
  uint64_t elements = uint64_t{1} << 31;
  // Bytes of constants that are computed while the model is loaded, in addition to eight times the size of
  // the file's own constants. An operator whose constant result would exceed the limit is left to the device.
  // Also bytes of the tensors whose shapes only a run determines, such as the states of a Loop, at one time
  // in a run; in addition to eight times the size of what they are computed from. A run beyond it is an
  // error.
  uint64_t folded_bytes = uint64_t{512} << 20;
  // Elementary operations (about a nanosecond each) on constants, while the model is loaded and on the
  // device, in addition to 64 for each byte of the file's own constants.
  uint64_t folded_work = 2'000'000'000;
  // Graphs within graphs: the branches of If.
  uint32_t nesting = 16;
  // Not a limit: the caller states that it knows the origin of the file. For example the file is part of the
  // app's signed package, or the app has verified a signature of the bytes. The SPIR-V of a bundle is then
  // passed to the driver without SPIRV-Tools' validator, which takes two milliseconds a shader at the first
  // load.
  bool trusts_shaders = false;
  // Not a limit either: a folder from which the model may read. External data of an ONNX file may be symbolic
  // links to files below this folder, as in caches of model hubs, where models/NAME/snapshots/... link into
  // models/NAME/blobs. Empty: links must stay in the model's own folder.
  std::filesystem::path links_within = {};
};

}  // namespace vellum

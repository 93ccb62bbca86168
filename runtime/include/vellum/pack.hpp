// Packed models: a model in one file with what a session on a device needs besides, so that loading it needs
// neither protobuf nor glslang, and packs no weights. Model::load() reads them as it reads model files.
#pragma once

#include <cstdint>
#include <filesystem>

#include "vellum/caps.hpp"
#include "vellum/vellum.hpp"

namespace vellum {

struct PackSummary {
  size_t shaders = 0;          // variants that were compiled
  size_t weights = 0;          // that were packed
  uint64_t weights_bytes = 0;  // of these
  uint64_t file_bytes = 0;
};

// Packs the ONNX or TFLite model in `model` for sessions with these options on a device with these caps, and
// replaces `file` in one step. On other devices and with other options the file serves as well as the model's
// own: what it lacks is compiled and packed when the session is made. Errors as of Model::load() and Session;
// Error(io) where the file cannot be written, Error(invalid_argument) for a model that is packed already.
VELLUM_API PackSummary pack(const std::filesystem::path& model, const std::filesystem::path& file,
                            const Caps& caps, const SessionOptions& options = {});

}  // namespace vellum

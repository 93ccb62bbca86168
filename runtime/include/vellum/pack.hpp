// Bundles: a model in one file with compiled shaders and prepacked weights, so that loading it needs neither
// protobuf nor glslang. Model::load() reads a bundle like any model file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "vellum/caps.hpp"
#include "vellum/frame.hpp"
#include "vellum/picture.hpp"
#include "vellum/vellum.hpp"

namespace vellum {

struct PackSummary {
  size_t shaders = 0;          // variants that were compiled
  size_t weights = 0;          // that were prepacked
  uint64_t weights_bytes = 0;  // of these
  uint64_t file_bytes = 0;
};

// Writes a bundle of the ONNX or TFLite model in `model` for sessions with these options on a device with
// these caps; replaces `file` in one step. The bundle also works on other devices and with other options:
// shaders and weights that it lacks are compiled and prepacked when the session is made. A reader that
// compiles none (Vellum::runtime) runs the kernels of the bundle instead, if the device has all that these
// caps promise: a bundle for Caps::android_baseline_2022() runs on every Android phone of that profile, one
// for the phone's own caps has the kernels that are chosen there without tuning. Throws the errors of
// Model::load() and Session, Error(io) if the file cannot be written or its folder does not exist, and
// Error(invalid_argument) if `model` is a bundle already.
VELLUM_API PackSummary pack(const std::filesystem::path& model, const std::filesystem::path& file,
                            const Caps& caps, const SessionOptions& options = {});

// An input of the model and the frames that it may take: with_frames(model, input, frame).
struct PackFrame {
  std::string input;
  FrameInput frame;
};

// Also adds the shaders of sessions of with_frames(), one model for each of `frames`: a reader that compiles
// none (Vellum::runtime) needs them. Of a frame only its format, filter, bgr and whether there is `fill`
// choose shaders, not its size or transform. Throws the errors of with_frames().
VELLUM_API PackSummary pack(const std::filesystem::path& model, const std::filesystem::path& file,
                            const Caps& caps, const SessionOptions& options,
                            std::span<const PackFrame> frames);

// An output of the model and a picture that sessions may make of it: with_picture(model, output, picture).
struct PackPicture {
  std::string output;
  PictureOutput picture;
};

// Also adds the shaders of sessions of with_picture(), one model for each of `pictures`: of the model as it
// is, and with each of `frames`. A picture over an input is made over each frame of that input; throws
// Error(invalid_argument) if there is none. Colours choose no shader, and neither does a size of more than 16
// pixels across. Throws the errors of with_picture().
VELLUM_API PackSummary pack(const std::filesystem::path& model, const std::filesystem::path& file,
                            const Caps& caps, const SessionOptions& options,
                            std::span<const PackFrame> frames, std::span<const PackPicture> pictures);

// Further forms in which sessions may run the model of a bundle.
struct PackVariants {
  std::span<const PackFrame> frames = {};
  std::span<const PackPicture> pictures = {};
  // Bind images of an application's as frames of `frames` and as outputs, and buffers with strides
  // (vellum/vulkan.hpp), or frames in hardware buffers (vellum/external.hpp).
  bool images = false;
  // Of a TFLite model: the signature that the bundle is for, instead of that which Model::load() chooses. A
  // bundle has no other.
  std::string signature = {};
};

// Writes a bundle with the shaders of all variants.
VELLUM_API PackSummary pack_with_variants(const std::filesystem::path& model,
                                          const std::filesystem::path& file, const Caps& caps,
                                          const SessionOptions& options, const PackVariants& variants);

// Takes the bytes of a bundle, one piece after another. What it throws ends pack().
using PackSink = std::function<void(std::span<const std::byte> piece)>;

// Does the same from memory to `sink`: nothing is read from or written to a file. A model with external data
// is refused. Throws the errors of the functions above but those of files, and what `sink` throws: an Error
// as it is, anything else as Error(cancelled) with its text.
VELLUM_API PackSummary pack(std::span<const std::byte> model, const PackSink& sink, const Caps& caps,
                            const SessionOptions& options = {}, std::span<const PackFrame> frames = {});
VELLUM_API PackSummary pack(std::span<const std::byte> model, const PackSink& sink, const Caps& caps,
                            const SessionOptions& options, std::span<const PackFrame> frames,
                            std::span<const PackPicture> pictures);
VELLUM_API PackSummary pack_with_variants(std::span<const std::byte> model, const PackSink& sink,
                                          const Caps& caps, const SessionOptions& options,
                                          const PackVariants& variants);

}  // namespace vellum

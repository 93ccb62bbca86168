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
  size_t weights = 0;          // weights that were prepacked
  uint64_t weights_bytes = 0;  // bytes of the prepacked weights
  uint64_t file_bytes = 0;
};

// Writes a bundle of the ONNX or TFLite model in `model`, for sessions with these options on a device with
// these caps. Replaces `file` atomically. The bundle also works on other devices and with other options:
// shaders and weights that it lacks are compiled and prepacked when the session is made. Vellum::runtime,
// which compiles no shaders, uses the kernels of the bundle instead, if the device has everything that these
// caps state. A bundle for Caps::android_baseline_2022() runs on every Android phone of that profile, and
// a bundle for a phone's own caps has the kernels that are chosen there without tuning.
// Throws the errors of Model::load() and Session, Error(io) if the file cannot be written or its folder does
// not exist, and Error(invalid_argument) if `model` is already a bundle.
VELLUM_API PackSummary pack(const std::filesystem::path& model, const std::filesystem::path& file,
                            const Caps& caps, const SessionOptions& options = {});

// An input of the model and the frames that it may take: with_frames(model, input, frame).
struct PackFrame {
  std::string input;
  FrameInput frame;
};

// Also adds the shaders of sessions of with_frames(), one model for each of `frames`. Vellum::runtime, which
// compiles no shaders, needs them. The shaders depend on a frame's format, filter, bgr and whether `fill` is
// set, not on its size or transform. Throws the errors of with_frames().
VELLUM_API PackSummary pack(const std::filesystem::path& model, const std::filesystem::path& file,
                            const Caps& caps, const SessionOptions& options,
                            std::span<const PackFrame> frames);

// An output of the model and a picture that sessions may draw from it: with_picture(model, output, picture).
struct PackPicture {
  std::string output;
  PictureOutput picture;
};

// Also adds the shaders of sessions of with_picture(), one model for each of `pictures`: without frames, and
// with each of `frames`. A picture over an input is drawn over each frame of that input; throws
// Error(invalid_argument) if there is none. The shaders do not depend on colours, nor on the size if it
// exceeds 16 pixels in width. Throws the errors of with_picture().
VELLUM_API PackSummary pack(const std::filesystem::path& model, const std::filesystem::path& file,
                            const Caps& caps, const SessionOptions& options,
                            std::span<const PackFrame> frames, std::span<const PackPicture> pictures);

// Further forms in which sessions may run the model of a bundle.
struct PackVariants {
  std::span<const PackFrame> frames = {};
  std::span<const PackPicture> pictures = {};
  // True: adds the shaders of bindings other than dense buffers: the application's images as `frames` and as
  // outputs, buffers with strides (vellum/vulkan.hpp), and frames in hardware buffers (vellum/external.hpp).
  bool images = false;
  // For a TFLite model: the signature to bundle, instead of the one that Model::load() chooses. A bundle has
  // one signature.
  std::string signature = {};
};

// Writes a bundle with the shaders of all variants.
VELLUM_API PackSummary pack_with_variants(const std::filesystem::path& model,
                                          const std::filesystem::path& file, const Caps& caps,
                                          const SessionOptions& options, const PackVariants& variants);

// Receives the bytes of a bundle in order, in several calls. An exception ends pack().
using PackSink = std::function<void(std::span<const std::byte> piece)>;

// Pack as the functions above do, but read the model from memory and pass the bundle to `sink`. A model with
// external data is refused. Throw the errors of the functions above except errors of files. An Error thrown
// by `sink` is passed on; any other exception becomes Error(cancelled) with its text.
VELLUM_API PackSummary pack(std::span<const std::byte> model, const PackSink& sink, const Caps& caps,
                            const SessionOptions& options = {}, std::span<const PackFrame> frames = {});
VELLUM_API PackSummary pack(std::span<const std::byte> model, const PackSink& sink, const Caps& caps,
                            const SessionOptions& options, std::span<const PackFrame> frames,
                            std::span<const PackPicture> pictures);
VELLUM_API PackSummary pack_with_variants(std::span<const std::byte> model, const PackSink& sink,
                                          const Caps& caps, const SessionOptions& options,
                                          const PackVariants& variants);

}  // namespace vellum

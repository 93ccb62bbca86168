// Sources of frames: photos, raw video, and everything that ffmpeg reads, including cameras.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "vellum/frame.hpp"

namespace vellum::samples {

class FrameSource {
 public:
  virtual ~FrameSource() = default;
  // Format and size of all frames.
  virtual FrameInput format() const = 0;
  // Writes the bytes of the next frame. Returns false after the last one.
  virtual bool next(std::span<std::byte> frame) = 0;
};

struct SourceOptions {
  std::string photo;   // a PNG, JPEG or BMP, or a folder of them: one a second, repeated
  std::string video;   // a file that ffmpeg reads
  std::string camera;  // "/dev/video0"
  std::string nv12;    // frames of raw NV12, repeated
  int width = 1280, height = 720;
};

// Throws vellum::Error: not_found or io for files that cannot be read, invalid_argument if not exactly one
// source is given.
std::unique_ptr<FrameSource> open_source(const SourceOptions& options);

}  // namespace vellum::samples

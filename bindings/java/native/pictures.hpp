// Conversion of Java's frames and pictures to C's.
#pragma once

#include <jni.h>

#include <cstdint>
#include <string>
#include <vector>

#include "vellum/vellum_frame.h"
#include "vellum/vellum_picture.h"

namespace vellum::jni {

// A FrameInput as C struct, with the data that it points to.
struct Frame {
  Frame(JNIEnv* env, jobject object);
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  vellum_frame_input input;
  vellum_frame_transform transform{};
  std::vector<int64_t> shape;
};

// A PictureOutput as C struct, with the data that it points to.
struct Picture {
  Picture(JNIEnv* env, jobject object);
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  vellum_picture_output output;
  std::vector<uint8_t> palette;
  std::string over, name;
};

}  // namespace vellum::jni

#include <algorithm>
#include <array>
#include <iterator>

#include "pictures.hpp"
#include "support.hpp"

using vellum::jni::check;
using vellum::jni::Frame;
using vellum::jni::from_long;
using vellum::jni::guarded;
using vellum::jni::JavaObject;
using vellum::jni::Local;
using vellum::jni::to_long;
using vellum::jni::to_utf8;

namespace {

// Java's FrameTransform is the matrix and then the size of the network's input.
constexpr size_t transform_values = 8;

vellum_frame_transform to_transform(JNIEnv* env, jdoubleArray java) {
  std::array<jdouble, transform_values> values{};
  env->GetDoubleArrayRegion(java, 0, transform_values, values.data());
  vellum::jni::check_pending(env);
  vellum_frame_transform transform{};
  std::copy_n(values.begin(), 6, transform.matrix);
  transform.network_width = values[6];
  transform.network_height = values[7];
  return transform;
}

template <size_t count>
jdoubleArray to_array(JNIEnv* env, const std::array<jdouble, count>& values) {
  Local<jdoubleArray> array(env, env->NewDoubleArray(count));
  env->SetDoubleArrayRegion(array.get(), 0, count, values.data());
  return array.release();
}

jdoubleArray to_array(JNIEnv* env, const vellum_frame_transform& transform) {
  std::array<jdouble, transform_values> values{};
  std::copy_n(transform.matrix, 6, values.begin());
  values[6] = transform.network_width;
  values[7] = transform.network_height;
  return to_array(env, values);
}

using Fit = vellum_status (*)(double, double, double, double, vellum_frame_transform*, vellum_error*);
jdoubleArray fit(JNIEnv* env, Fit make, jdouble width, jdouble height, jdouble network_width,
                 jdouble network_height) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_frame_transform transform{};
    check(env, make(width, height, network_width, network_height, &transform, &error), error);
    return to_array(env, transform);
  });
}

template <size_t count>
void read_floats(JNIEnv* env, const JavaObject& java, const char* field, float (&to)[count]) {
  const Local<jfloatArray> values = java.get<jfloatArray>(field, "[F");
  env->GetFloatArrayRegion(values.get(), 0, count, to);
  vellum::jni::check_pending(env);
}

}  // namespace

namespace vellum::jni {

Frame::Frame(JNIEnv* env, jobject object) {
  const JavaObject java(env, object);
  vellum_frame_input_init(&input);
  input.format = static_cast<vellum_frame_format>(java.get_int("format"));
  input.width = static_cast<uint32_t>(java.get_int("width"));
  input.height = static_cast<uint32_t>(java.get_int("height"));
  input.row_bytes = static_cast<uint32_t>(java.get_int("rowBytes"));
  input.matrix = static_cast<vellum_color_matrix>(java.get_int("matrix"));
  input.range = static_cast<vellum_color_range>(java.get_int("range"));
  input.filter = static_cast<vellum_frame_filter>(java.get_int("filter"));
  input.repeat_border = java.get_bool("repeatBorder");
  input.bgr = java.get_bool("bgr");
  read_floats(env, java, "fill", input.fill);
  read_floats(env, java, "mean", input.mean);
  read_floats(env, java, "scale", input.scale);
  const Local<jdoubleArray> java_transform = java.get<jdoubleArray>("transform", "[D");
  if (java_transform) {
    transform = to_transform(env, java_transform.get());
    input.transform = &transform;
  }
  const Local<jlongArray> java_shape = java.get<jlongArray>("networkShape", "[J");
  if (java_shape) {
    shape = vellum::jni::to_dims(env, java_shape.get());
    input.network_shape = shape.data();
    input.network_rank = shape.size();
  }
}

}  // namespace vellum::jni

VELLUM_JNI(jdoubleArray, frameStretch)
(JNIEnv* env, jclass, jdouble width, jdouble height, jdouble network_width, jdouble network_height) {
  return fit(env, vellum_frame_stretch, width, height, network_width, network_height);
}

VELLUM_JNI(jdoubleArray, frameLetterbox)
(JNIEnv* env, jclass, jdouble width, jdouble height, jdouble network_width, jdouble network_height) {
  return fit(env, vellum_frame_letterbox, width, height, network_width, network_height);
}

VELLUM_JNI(jdoubleArray, frameCenterCrop)
(JNIEnv* env, jclass, jdouble width, jdouble height, jdouble network_width, jdouble network_height) {
  return fit(env, vellum_frame_center_crop, width, height, network_width, network_height);
}

VELLUM_JNI(jdoubleArray, frameRotated)
(JNIEnv* env, jclass, jdouble center_x, jdouble center_y, jdouble width, jdouble height, jdouble angle,
 jdouble network_width, jdouble network_height) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_frame_transform transform{};
    check(env,
          vellum_frame_rotated(center_x, center_y, width, height, angle, network_width, network_height,
                               &transform, &error),
          error);
    return to_array(env, transform);
  });
}

VELLUM_JNI(jdoubleArray, frameRegion)
(JNIEnv* env, jclass, jdouble corner_x, jdouble corner_y, jdouble right_x, jdouble right_y, jdouble down_x,
 jdouble down_y, jdouble network_width, jdouble network_height) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_frame_transform transform{};
    check(env,
          vellum_frame_region(corner_x, corner_y, right_x, right_y, down_x, down_y, network_width,
                              network_height, &transform, &error),
          error);
    return to_array(env, transform);
  });
}

VELLUM_JNI(jdoubleArray, frameFlip)(JNIEnv* env, jclass, jdoubleArray java, jboolean across) {
  return guarded(env, [&] {
    const vellum_frame_transform transform = to_transform(env, java);
    vellum_error error;
    vellum_frame_transform flipped{};
    check(env, vellum_frame_flip(&transform, across, &flipped, &error), error);
    return to_array(env, flipped);
  });
}

VELLUM_JNI(jdoubleArray, frameMap)
(JNIEnv* env, jclass, jdoubleArray java, jdouble x, jdouble y, jboolean to_frame) {
  return guarded(env, [&] {
    const vellum_frame_transform transform = to_transform(env, java);
    std::array<jdouble, 2> mapped{};
    vellum_error error;
    const auto map = to_frame ? vellum_frame_from_network : vellum_frame_to_network;
    check(env, map(&transform, x, y, &mapped[0], &mapped[1], &error), error);
    return to_array(env, mapped);
  });
}

VELLUM_JNI(jfloatArray, frameValues)(JNIEnv* env, jclass, jdoubleArray java) {
  return guarded(env, [&] {
    const vellum_frame_transform transform = to_transform(env, java);
    float values[6];
    vellum_frame_transform_values(&transform, values);
    Local<jfloatArray> array(env, env->NewFloatArray(6));
    env->SetFloatArrayRegion(array.get(), 0, 6, values);
    return array.release();
  });
}

VELLUM_JNI(jlong, frameBytes)(JNIEnv* env, jclass, jobject object) {
  return guarded(env, [&] {
    const Frame frame(env, object);
    size_t bytes = 0;
    vellum_error error;
    check(env, vellum_frame_input_bytes(&frame.input, &bytes, &error), error);
    return static_cast<jlong>(bytes);
  });
}

VELLUM_JNI(jlong, modelWithFrames)(JNIEnv* env, jclass, jlong model, jstring input, jobject object) {
  return guarded(env, [&] {
    const Frame frame(env, object);
    vellum_error error;
    vellum_model* framed = nullptr;
    check(env,
          vellum_model_with_frames(from_long<vellum_model>(model), to_utf8(env, input).c_str(), &frame.input,
                                   &framed, &error),
          error);
    return to_long(framed);
  });
}

#include "support.hpp"
#include "vellum/vellum_external.h"

using vellum::jni::check;
using vellum::jni::from_long;
using vellum::jni::guarded;
using vellum::jni::to_long;
using vellum::jni::to_utf8;

VELLUM_JNI(jlong, hardwareFramesCreate)(JNIEnv* env, jclass, jlong session, jstring input, jint most) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_hardware_frames* frames = nullptr;
    check(env,
          vellum_hardware_frames_create(from_long<vellum_session>(session), to_utf8(env, input).c_str(),
                                        static_cast<size_t>(most), &frames, &error),
          error);
    return to_long(frames);
  });
}

VELLUM_JNI(void, hardwareFramesDestroy)(JNIEnv*, jclass, jlong frames) {
  vellum_hardware_frames_destroy(from_long<vellum_hardware_frames>(frames));
}

VELLUM_JNI(void, hardwareFramesRun)
(JNIEnv* env, jclass, jlong frames, jlong buffer, jint width, jint height) {
  guarded(env, [&] {
    vellum_error error;
    check(env,
          vellum_hardware_frames_run(from_long<vellum_hardware_frames>(frames), from_long<void>(buffer),
                                     static_cast<uint32_t>(width), static_cast<uint32_t>(height), &error),
          error);
  });
}

#include <cstring>

#include "handles.hpp"
#include "options.hpp"
#include "support.hpp"
#include "tensors.hpp"

using vellum::jni::check;
using vellum::jni::check_pending;
using vellum::jni::from_long;
using vellum::jni::guarded;
using vellum::jni::JavaDevice;
using vellum::jni::JavaObject;
using vellum::jni::Local;
using vellum::jni::make_object;
using vellum::jni::SessionOptions;
using vellum::jni::tensors_to_java;
using vellum::jni::to_long;

namespace {

// The object of RegionCalls that a run's callbacks go to, all on the thread of the run. One that throws
// leaves its exception pending, and ends the run.
class Regions {
 public:
  Regions(JNIEnv* env, jobject calls) : env_(env), calls_(calls) {
    const Local<jclass> type(env, env->GetObjectClass(calls));
    memory_ = env->GetMethodID(type.get(), "memory", "(J)Ljava/nio/ByteBuffer;");
    if (memory_) read_ = env->GetMethodID(type.get(), "read", "(IIJJJJJ)V");
    if (read_) write_ = env->GetMethodID(type.get(), "write", "(IIJJJJJ)V");
    if (write_) go_on_ = env->GetMethodID(type.get(), "goOn", "(JJ)Z");
    check_pending(env);
  }

  bool read(const vellum_picture_region& region, void* values, size_t byte_count) const {
    const std::byte* memory = call(read_, region, nullptr, byte_count);
    if (!memory) return false;
    std::memcpy(values, memory, byte_count);
    return true;
  }

  bool write(const vellum_picture_region& region, const void* values, size_t byte_count) const {
    return call(write_, region, values, byte_count) != nullptr;
  }

  bool go_on(size_t done, size_t total) const {
    const jboolean answer =
        env_->CallBooleanMethod(calls_, go_on_, static_cast<jlong>(done), static_cast<jlong>(total));
    return !env_->ExceptionCheck() && answer;
  }

 private:
  // Returns Java's memory of the region, which `values`, if there are any, are copied to before the call.
  // nullptr: an exception is pending.
  std::byte* call(jmethodID method, const vellum_picture_region& region, const void* values,
                  size_t byte_count) const {
    const auto bytes = static_cast<jlong>(byte_count);
    const jobject buffer = env_->CallObjectMethod(calls_, memory_, bytes);
    if (env_->ExceptionCheck()) return nullptr;
    auto* memory = static_cast<std::byte*>(env_->GetDirectBufferAddress(buffer));
    env_->DeleteLocalRef(buffer);
    if (values) std::memcpy(memory, values, byte_count);
    env_->CallVoidMethod(calls_, method, static_cast<jint>(region.tensor),
                         static_cast<jint>(region.rows_axis), static_cast<jlong>(region.top),
                         static_cast<jlong>(region.left), static_cast<jlong>(region.height),
                         static_cast<jlong>(region.width), bytes);
    return env_->ExceptionCheck() ? nullptr : memory;
  }

  JNIEnv* env_;
  jobject calls_;
  jmethodID memory_ = nullptr, read_ = nullptr, write_ = nullptr, go_on_ = nullptr;
};

int32_t read_from_java(const vellum_picture_region* region, void* values, size_t byte_count, void* user) {
  return static_cast<const Regions*>(user)->read(*region, values, byte_count) ? 0 : 1;
}

int32_t write_to_java(const vellum_picture_region* region, const void* values, size_t byte_count,
                      void* user) {
  return static_cast<const Regions*>(user)->write(*region, values, byte_count) ? 0 : 1;
}

int32_t tile_to_java(size_t done, size_t total, void* user) {
  return static_cast<const Regions*>(user)->go_on(done, total) ? 0 : 1;
}

vellum_large_picture_info info_of(JNIEnv* env, jlong picture) {
  vellum_error error;
  vellum_large_picture_info info{};
  info.size = sizeof info;
  check(env, vellum_large_picture_get_info(from_long<vellum_large_picture>(picture), &info, &error), error);
  return info;
}

}  // namespace

VELLUM_JNI(jlong, largePictureCreate)
(JNIEnv* env, jclass, jlong device, jlong model, jobject options, jlong tile_height, jlong tile_width) {
  return guarded(env, [&] {
    const SessionOptions session(env, options);
    vellum_large_picture_options given;
    vellum_large_picture_options_init(&given);
    given.session = session.get();
    given.tile_height = tile_height;
    given.tile_width = tile_width;
    vellum_error error;
    vellum_large_picture* picture = nullptr;
    check(env,
          vellum_large_picture_create(from_long<JavaDevice>(device)->device, from_long<vellum_model>(model),
                                      &given, &picture, &error),
          error);
    return to_long(picture);
  });
}

VELLUM_JNI(void, largePictureDestroy)(JNIEnv*, jclass, jlong picture) {
  vellum_large_picture_destroy(from_long<vellum_large_picture>(picture));
}

VELLUM_JNI(jobjectArray, largePictureTensors)(JNIEnv* env, jclass, jlong address, jboolean outputs) {
  return guarded(env, [&] {
    const auto* picture = from_long<vellum_large_picture>(address);
    return outputs ? tensors_to_java(env, picture, vellum_large_picture_output_count(picture),
                                     vellum_large_picture_output)
                   : tensors_to_java(env, picture, vellum_large_picture_input_count(picture),
                                     vellum_large_picture_input);
  });
}

VELLUM_JNI(jobject, largePictureTiles)(JNIEnv* env, jclass, jlong picture) {
  return guarded(env, [&] {
    const vellum_large_picture_info info = info_of(env, picture);
    return make_object(env, "io/vellum/PictureTiles",
                       [&](JavaObject& java) {
                         java.set_long("height", static_cast<uint64_t>(info.tile_height));
                         java.set_long("width", static_cast<uint64_t>(info.tile_width));
                         java.set_long("down", info.tiles_down);
                         java.set_long("across", info.tiles_across);
                       })
        .release();
  });
}

VELLUM_JNI(jlong, largePicturePeakBytes)(JNIEnv* env, jclass, jlong picture) {
  return guarded(env, [&] { return static_cast<jlong>(info_of(env, picture).peak_bytes); });
}

VELLUM_JNI(void, largePictureRun)(JNIEnv* env, jclass, jlong picture, jobject calls) {
  guarded(env, [&] {
    Regions regions(env, calls);
    vellum_error error;
    const vellum_status status =
        vellum_large_picture_run(from_long<vellum_large_picture>(picture), read_from_java, write_to_java,
                                 tile_to_java, &regions, &error);
    check_pending(env);
    check(env, status, error);
  });
}

// Assets, bitmaps, hardware buffers and surfaces for io.vellum.android. Only Android has what this file
// includes.
#include <android/asset_manager.h>
#include <android/asset_manager_jni.h>
#include <android/bitmap.h>
#include <android/hardware_buffer.h>
#include <android/hardware_buffer_jni.h>
#include <android/native_window.h>
#include <android/native_window_jni.h>

#include <cstring>
#include <memory>

#include "support.hpp"

using vellum::jni::from_long;
using vellum::jni::guarded;
using vellum::jni::to_long;
using vellum::jni::to_utf8;

#define VELLUM_ANDROID_JNI(type, name) extern "C" JNIEXPORT type JNICALL Java_io_vellum_android_Native_##name

namespace {

[[noreturn]] void throw_illegal_argument(JNIEnv* env, const char* message) {
  vellum::jni::make_pending(env, "java/lang/IllegalArgumentException", message);
  throw vellum::jni::PendingException();
}

// {width, height, bytes from row to row}
jintArray size_to_java(JNIEnv* env, uint32_t width, uint32_t height, uint32_t row_bytes) {
  const jint values[] = {static_cast<jint>(width), static_cast<jint>(height), static_cast<jint>(row_bytes)};
  vellum::jni::Local<jintArray> array(env, env->NewIntArray(3));
  env->SetIntArrayRegion(array.get(), 0, 3, values);
  return array.release();
}

AndroidBitmapInfo info_of(JNIEnv* env, jobject bitmap) {
  AndroidBitmapInfo info{};
  if (AndroidBitmap_getInfo(env, bitmap, &info) != ANDROID_BITMAP_RESULT_SUCCESS ||
      info.format != ANDROID_BITMAP_FORMAT_RGBA_8888)
    throw_illegal_argument(env, "the bitmap's configuration is not ARGB_8888, or it was recycled");
  return info;
}

// Every buffer that Java gives is alive: Java has a reference to it during the call.
AHardwareBuffer* to_native(JNIEnv* env, jobject java) {
  return AHardwareBuffer_fromHardwareBuffer(env, java);
}

AHardwareBuffer_Desc description_of(JNIEnv* env, AHardwareBuffer* buffer) {
  AHardwareBuffer_Desc description{};
  AHardwareBuffer_describe(buffer, &description);
  const bool rgba = description.format == AHARDWAREBUFFER_FORMAT_R8G8B8A8_UNORM ||
                    description.format == AHARDWAREBUFFER_FORMAT_R8G8B8X8_UNORM;
  if (!rgba || description.layers != 1)
    throw_illegal_argument(env, "the hardware buffer is not RGBA_8888 or RGBX_8888 with one layer");
  return description;
}

struct ReleaseWindow {
  void operator()(ANativeWindow* window) const { ANativeWindow_release(window); }
};

void copy_rows(const ANativeWindow_Buffer& to, const std::byte* from, size_t width, size_t height,
               size_t row_bytes) {
  auto* row = static_cast<std::byte*>(to.bits);
  for (size_t y = 0; y < height; ++y)
    std::memcpy(row + y * 4 * static_cast<size_t>(to.stride), from + y * row_bytes, 4 * width);
}

}  // namespace

VELLUM_ANDROID_JNI(jobject, openAsset)
(JNIEnv* env, jclass, jobject assets, jstring name, jlongArray opened) {
  return guarded(env, [&]() -> jobject {
    // The manager lives as long as its Java object, which the caller holds.
    AAssetManager* manager = AAssetManager_fromJava(env, assets);
    AAsset* asset = AAssetManager_open(manager, to_utf8(env, name).c_str(), AASSET_MODE_BUFFER);
    if (!asset) return nullptr;
    const void* bytes = AAsset_getBuffer(asset);
    jobject buffer =
        bytes ? env->NewDirectByteBuffer(const_cast<void*>(bytes), AAsset_getLength64(asset)) : nullptr;
    if (!buffer) {
      AAsset_close(asset);
      return nullptr;
    }
    const jlong address = to_long(asset);
    env->SetLongArrayRegion(opened, 0, 1, &address);
    return buffer;
  });
}

VELLUM_ANDROID_JNI(jboolean, assetIsMapped)(JNIEnv*, jclass, jlong asset) {
  return AAsset_isAllocated(from_long<AAsset>(asset)) ? JNI_FALSE : JNI_TRUE;
}

VELLUM_ANDROID_JNI(void, closeAsset)(JNIEnv*, jclass, jlong asset) { AAsset_close(from_long<AAsset>(asset)); }

VELLUM_ANDROID_JNI(jintArray, bitmapSize)(JNIEnv* env, jclass, jobject bitmap) {
  return guarded(env, [&] {
    const AndroidBitmapInfo info = info_of(env, bitmap);
    return size_to_java(env, info.width, info.height, info.stride);
  });
}

VELLUM_ANDROID_JNI(jobject, lockBitmap)(JNIEnv* env, jclass, jobject bitmap) {
  return guarded(env, [&]() -> jobject {
    const AndroidBitmapInfo info = info_of(env, bitmap);
    void* pixels = nullptr;
    if (AndroidBitmap_lockPixels(env, bitmap, &pixels) != ANDROID_BITMAP_RESULT_SUCCESS) return nullptr;
    jobject buffer = env->NewDirectByteBuffer(pixels, jlong{info.stride} * info.height);
    if (!buffer) AndroidBitmap_unlockPixels(env, bitmap);
    return buffer;
  });
}

VELLUM_ANDROID_JNI(void, unlockBitmap)(JNIEnv* env, jclass, jobject bitmap) {
  AndroidBitmap_unlockPixels(env, bitmap);
}

VELLUM_ANDROID_JNI(jintArray, hardwareBufferSize)(JNIEnv* env, jclass, jobject java) {
  return guarded(env, [&] {
    const AHardwareBuffer_Desc description = description_of(env, to_native(env, java));
    return size_to_java(env, description.width, description.height, 4 * description.stride);
  });
}

VELLUM_ANDROID_JNI(jlong, acquireHardwareBuffer)(JNIEnv* env, jclass, jobject java, jintArray size) {
  return guarded(env, [&] {
    AHardwareBuffer* buffer = to_native(env, java);
    AHardwareBuffer_Desc description{};
    AHardwareBuffer_describe(buffer, &description);
    if (description.layers != 1) throw_illegal_argument(env, "the hardware buffer has more layers than one");
    const jint values[] = {static_cast<jint>(description.width), static_cast<jint>(description.height)};
    env->SetIntArrayRegion(size, 0, 2, values);
    vellum::jni::check_pending(env);
    AHardwareBuffer_acquire(buffer);
    return to_long(buffer);
  });
}

VELLUM_ANDROID_JNI(void, releaseHardwareBuffer)(JNIEnv*, jclass, jlong buffer) {
  AHardwareBuffer_release(from_long<AHardwareBuffer>(buffer));
}

VELLUM_ANDROID_JNI(jobject, lockHardwareBuffer)(JNIEnv* env, jclass, jobject java) {
  return guarded(env, [&]() -> jobject {
    AHardwareBuffer* buffer = to_native(env, java);
    const AHardwareBuffer_Desc description = description_of(env, buffer);
    void* pixels = nullptr;
    // No fence: waits until the producer is done.
    if (AHardwareBuffer_lock(buffer, AHARDWAREBUFFER_USAGE_CPU_READ_OFTEN, -1, nullptr, &pixels) != 0)
      return nullptr;
    jobject locked = env->NewDirectByteBuffer(pixels, jlong{4} * description.stride * description.height);
    if (!locked) AHardwareBuffer_unlock(buffer, nullptr);
    return locked;
  });
}

VELLUM_ANDROID_JNI(void, unlockHardwareBuffer)(JNIEnv* env, jclass, jobject java) {
  AHardwareBuffer_unlock(to_native(env, java), nullptr);
}

VELLUM_ANDROID_JNI(jboolean, draw)
(JNIEnv* env, jclass, jobject surface, jobject rgba, jint offset, jint width, jint height, jint row_bytes) {
  return guarded(env, [&]() -> jboolean {
    const jlong count = jlong{row_bytes} * (height - 1) + jlong{4} * width;
    const std::byte* pixels = vellum::jni::memory_of(env, rgba, offset, static_cast<jint>(count));
    const std::unique_ptr<ANativeWindow, ReleaseWindow> window(ANativeWindow_fromSurface(env, surface));
    if (!window ||
        ANativeWindow_setBuffersGeometry(window.get(), width, height, WINDOW_FORMAT_RGBA_8888) != 0)
      return JNI_FALSE;
    ANativeWindow_Buffer buffer{};
    if (ANativeWindow_lock(window.get(), &buffer, nullptr) != 0) return JNI_FALSE;
    const bool fits = buffer.width >= width && buffer.height >= height && buffer.stride >= width;
    if (fits)
      copy_rows(buffer, pixels, static_cast<size_t>(width), static_cast<size_t>(height),
                static_cast<size_t>(row_bytes));
    ANativeWindow_unlockAndPost(window.get());
    return fits;
  });
}

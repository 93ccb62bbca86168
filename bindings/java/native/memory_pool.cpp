#include "handles.hpp"
#include "support.hpp"

using vellum::jni::check;
using vellum::jni::from_long;
using vellum::jni::guarded;
using vellum::jni::JavaDevice;
using vellum::jni::to_long;

VELLUM_JNI(jlong, poolCreate)(JNIEnv* env, jclass, jlong device, jint overlap) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_memory_pool* pool = nullptr;
    check(env,
          vellum_memory_pool_create(from_long<JavaDevice>(device)->device,
                                    static_cast<vellum_pool_overlap>(overlap), &pool, &error),
          error);
    return to_long(pool);
  });
}

VELLUM_JNI(void, poolDestroy)(JNIEnv*, jclass, jlong pool) {
  vellum_memory_pool_destroy(from_long<vellum_memory_pool>(pool));
}

VELLUM_JNI(jlong, poolBytes)(JNIEnv* env, jclass, jlong pool) {
  return guarded(env, [&] {
    uint64_t bytes = 0;
    vellum_error error;
    check(env, vellum_memory_pool_bytes(from_long<vellum_memory_pool>(pool), &bytes, &error), error);
    return static_cast<jlong>(bytes);
  });
}

VELLUM_JNI(void, poolTrim)(JNIEnv* env, jclass, jlong pool) {
  guarded(env, [&] {
    vellum_error error;
    check(env, vellum_memory_pool_trim(from_long<vellum_memory_pool>(pool), &error), error);
  });
}

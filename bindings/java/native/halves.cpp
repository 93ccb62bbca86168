#include "support.hpp"

using vellum::jni::guarded;
using vellum::jni::memory_of;

VELLUM_JNI(void, floatsFromHalves)(JNIEnv* env, jclass, jobject halves, jfloatArray floats) {
  guarded(env, [&] {
    const jsize count = env->GetArrayLength(floats);
    std::vector<float> values(static_cast<size_t>(count));
    vellum_floats_from_halves(reinterpret_cast<const uint16_t*>(memory_of(env, halves, 0, 2 * count)),
                              values.size(), values.data());
    env->SetFloatArrayRegion(floats, 0, count, values.data());
  });
}

VELLUM_JNI(void, halvesFromFloats)(JNIEnv* env, jclass, jfloatArray floats, jobject halves) {
  guarded(env, [&] {
    const jsize count = env->GetArrayLength(floats);
    std::vector<float> values(static_cast<size_t>(count));
    env->GetFloatArrayRegion(floats, 0, count, values.data());
    vellum_halves_from_floats(values.data(), values.size(),
                              reinterpret_cast<uint16_t*>(memory_of(env, halves, 0, 2 * count)));
  });
}

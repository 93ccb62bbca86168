#include "pictures.hpp"
#include "support.hpp"

using vellum::jni::check;
using vellum::jni::from_long;
using vellum::jni::guarded;
using vellum::jni::JavaObject;
using vellum::jni::Local;
using vellum::jni::Picture;
using vellum::jni::to_long;
using vellum::jni::to_utf8;

namespace vellum::jni {

Picture::Picture(JNIEnv* env, jobject object) {
  const JavaObject java(env, object);
  vellum_picture_output_init(&output);
  output.colors = static_cast<vellum_picture_colors>(java.get_int("colors"));
  output.low = java.get_float("low");
  output.high = java.get_float("high");
  const Local<jbyteArray> bytes = java.get<jbyteArray>("palette", "[B");
  palette.resize(static_cast<size_t>(env->GetArrayLength(bytes.get())));
  env->GetByteArrayRegion(bytes.get(), 0, static_cast<jsize>(palette.size()),
                          reinterpret_cast<jbyte*>(palette.data()));
  vellum::jni::check_pending(env);
  output.palette = palette.data();
  output.palette_colors = palette.size() / 4;
  output.filter = static_cast<vellum_picture_filter>(java.get_int("filter"));
  output.channels = static_cast<vellum_channel_order>(java.get_int("channels"));
  output.width = static_cast<uint32_t>(java.get_int("width"));
  output.height = static_cast<uint32_t>(java.get_int("height"));
  bool is_null = false;
  over = java.get_string("over", &is_null);
  if (!is_null) output.over = over.c_str();
  name = java.get_string("name", &is_null);
  if (!is_null) output.name = name.c_str();
}

}  // namespace vellum::jni

VELLUM_JNI(jlong, modelWithPicture)(JNIEnv* env, jclass, jlong model, jstring output, jobject object) {
  return guarded(env, [&] {
    const Picture picture(env, object);
    vellum_error error;
    vellum_model* pictured = nullptr;
    check(env,
          vellum_model_with_picture(from_long<vellum_model>(model), to_utf8(env, output).c_str(),
                                    &picture.output, &pictured, &error),
          error);
    return to_long(pictured);
  });
}

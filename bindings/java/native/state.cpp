#include <vector>

#include "support.hpp"

using vellum::jni::check;
using vellum::jni::from_long;
using vellum::jni::guarded;
using vellum::jni::Local;
using vellum::jni::memory_of;
using vellum::jni::to_java;
using vellum::jni::to_long;
using vellum::jni::to_utf8;

// The names of all states: an input, its output, the next input, ...
VELLUM_JNI(jobjectArray, sessionStates)(JNIEnv* env, jclass, jlong address) {
  return guarded(env, [&] {
    const auto* session = from_long<vellum_session>(address);
    std::vector<const char*> names;
    for (size_t i = 0; i < vellum_session_state_count(session); ++i) {
      vellum_error error;
      vellum_state_info info{};
      info.size = sizeof info;
      check(env, vellum_session_state(session, i, &info, &error), error);
      names.insert(names.end(), {info.input, info.output});
    }
    return to_java(env, names);
  });
}

VELLUM_JNI(void, sessionResetState)(JNIEnv* env, jclass, jlong session) {
  guarded(env, [&] {
    vellum_error error;
    check(env, vellum_session_reset_state(from_long<vellum_session>(session), &error), error);
  });
}

VELLUM_JNI(void, sessionGetState)
(JNIEnv* env, jclass, jlong session, jstring java_name, jobject buffer, jint offset, jint count) {
  guarded(env, [&] {
    const std::string name = to_utf8(env, java_name);
    std::byte* values = memory_of(env, buffer, offset, count);
    vellum_error error;
    check(env,
          vellum_session_get_state(from_long<vellum_session>(session), name.c_str(), values,
                                   static_cast<size_t>(count), &error),
          error);
  });
}

VELLUM_JNI(void, sessionSetState)
(JNIEnv* env, jclass, jlong session, jstring java_name, jobject buffer, jint offset, jint count) {
  guarded(env, [&] {
    const std::string name = to_utf8(env, java_name);
    const std::byte* values = memory_of(env, buffer, offset, count);
    vellum_error error;
    check(env,
          vellum_session_set_state(from_long<vellum_session>(session), name.c_str(), values,
                                   static_cast<size_t>(count), &error),
          error);
  });
}

VELLUM_JNI(jlong, sessionSaveState)(JNIEnv* env, jclass, jlong session) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_saved_state* saved = nullptr;
    check(env, vellum_session_save_state(from_long<vellum_session>(session), &saved, &error), error);
    return to_long(saved);
  });
}

VELLUM_JNI(void, sessionRestoreState)(JNIEnv* env, jclass, jlong session, jlong saved) {
  guarded(env, [&] {
    vellum_error error;
    check(env,
          vellum_session_restore_state(from_long<vellum_session>(session),
                                       from_long<vellum_saved_state>(saved), &error),
          error);
  });
}

VELLUM_JNI(void, savedStateDestroy)(JNIEnv*, jclass, jlong saved) {
  vellum_saved_state_destroy(from_long<vellum_saved_state>(saved));
}

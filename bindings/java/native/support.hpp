// Helpers that the functions of libvellum_jni share: strings, fields of Java objects, and exceptions in both
// directions.
#pragma once

#include <jni.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "vellum/vellum.h"

// The header that javac generates from Native.java. With it, wrong signatures are compile errors. A build
// without a JDK lacks it.
#if __has_include("io_vellum_Native.h")
#include "io_vellum_Native.h"
#endif

#define VELLUM_JNI(type, name) extern "C" JNIEXPORT type JNICALL Java_io_vellum_Native_##name

namespace vellum::jni {

// Thrown to leave a native function when a Java exception is pending.
struct PendingException {};

// Makes a VellumException pending and throws PendingException.
[[noreturn]] void throw_vellum(JNIEnv* env, vellum_status status, const char* message);
void make_pending(JNIEnv* env, const char* class_name, const char* message) noexcept;

inline void check(JNIEnv* env, vellum_status status, const vellum_error& error) {
  if (status != VELLUM_OK) throw_vellum(env, status, error.message);
}

// Throws PendingException if a JNI call failed.
inline void check_pending(JNIEnv* env) {
  if (env->ExceptionCheck()) throw PendingException();
}

// Runs the body of a native function. No C++ exception leaves it.
template <typename Function>
auto guarded(JNIEnv* env, Function&& function) noexcept -> decltype(function()) {
  try {
    return function();
  } catch (const PendingException&) {
  } catch (const std::bad_alloc&) {
    make_pending(env, "java/lang/OutOfMemoryError", "the host is out of memory");
  } catch (const std::exception& thrown) {
    make_pending(env, "java/lang/InternalError", thrown.what());
  }
  return decltype(function())();
}

// A local reference that is deleted at the end of its scope, because a JVM guarantees only few of them to a
// native call.
template <typename Reference>
class Local {
 public:
  // Throws PendingException if the JNI call that made the reference failed.
  Local(JNIEnv* env, jobject reference) : env_(env), reference_(static_cast<Reference>(reference)) {
    if (!reference_ && env_->ExceptionCheck()) throw PendingException();
  }
  Local(const Local&) = delete;
  Local& operator=(const Local&) = delete;
  Local(Local&& other) noexcept : env_(other.env_), reference_(other.release()) {}
  ~Local() {
    if (reference_) env_->DeleteLocalRef(reference_);
  }

  Reference get() const { return reference_; }
  explicit operator bool() const { return reference_ != nullptr; }
  Reference release() {
    Reference reference = reference_;
    reference_ = nullptr;
    return reference;
  }

 private:
  JNIEnv* env_;
  Reference reference_;
};

// Returns standard UTF-8, not JNI's modified UTF-8. Throws for a string that contains a zero, because C would
// truncate it there.
std::string to_utf8(JNIEnv* env, jstring text);
Local<jstring> to_java(JNIEnv* env, const char* utf8);

// Returns the text as a Java string, and destroys the text.
Local<jstring> take_text(JNIEnv* env, vellum_text* text);

std::vector<std::string> to_strings(JNIEnv* env, jobjectArray strings);
std::vector<int64_t> to_dims(JNIEnv* env, jlongArray dims);
std::vector<std::vector<int64_t>> to_dims(JNIEnv* env, jobjectArray shapes);

// Returns the memory of a direct buffer. Throws if [offset, offset + count) is not within it, which Java has
// already checked.
std::byte* memory_of(JNIEnv* env, jobject buffer, jint offset, jint count);

// A Java object whose fields are read and written by name. Throws PendingException for a missing field.
class JavaObject {
 public:
  JavaObject(JNIEnv* env, jobject object);  // borrowed
  static JavaObject make(JNIEnv* env, const char* class_name);

  jint get_int(const char* field) const;
  jlong get_long(const char* field) const;
  bool get_bool(const char* field) const;
  float get_float(const char* field) const;
  double get_double(const char* field) const;
  // Returns an empty string and sets *is_null for null.
  std::string get_string(const char* field, bool* is_null) const;
  template <typename Reference>
  Local<Reference> get(const char* field, const char* signature) const {
    return {env_, env_->GetObjectField(object_.get(), id(field, signature))};
  }

  void set_int(const char* field, jint value);
  void set_long(const char* field, uint64_t value);
  void set_bool(const char* field, bool value);
  void set_float(const char* field, float value);
  void set_double(const char* field, double value);
  void set_string(const char* field, const char* value);
  void set(const char* field, const char* signature, jobject value);

  jobject release() { return object_.release(); }

 private:
  JavaObject(JNIEnv* env, Local<jclass> type, Local<jobject> object);
  jfieldID id(const char* field, const char* signature) const;

  JNIEnv* env_;
  Local<jclass> type_;
  Local<jobject> object_;
};

// Makes an array of `count` objects. make(i) returns object i as a Local.
template <typename Make>
jobjectArray make_array(JNIEnv* env, const char* class_name, size_t count, const Make& make) {
  const Local<jclass> type(env, env->FindClass(class_name));
  Local<jobjectArray> array(env, env->NewObjectArray(static_cast<jsize>(count), type.get(), nullptr));
  for (size_t i = 0; i < count; ++i) {
    const auto element = make(i);
    env->SetObjectArrayElement(array.get(), static_cast<jsize>(i), element.get());
  }
  return array.release();
}

jobjectArray to_java(JNIEnv* env, const std::vector<const char*>& strings);

// Makes an object of a class whose constructor has no parameters, and calls fill(object) to set its fields.
template <typename Fill>
Local<jobject> make_object(JNIEnv* env, const char* class_name, const Fill& fill) {
  JavaObject object = JavaObject::make(env, class_name);
  fill(object);
  return {env, object.release()};
}

// Handles are passed through Java as long.
template <typename Handle>
jlong to_long(Handle* handle) {
  return static_cast<jlong>(reinterpret_cast<intptr_t>(handle));
}
template <typename Handle>
Handle* from_long(jlong address) {
  return reinterpret_cast<Handle*>(static_cast<intptr_t>(address));
}

}  // namespace vellum::jni

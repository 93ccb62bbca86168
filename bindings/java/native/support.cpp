#include "support.hpp"

#include <utility>

namespace vellum::jni {

void throw_vellum(JNIEnv* env, vellum_status status, const char* message) {
  const Local<jclass> type(env, env->FindClass("io/vellum/VellumException"));
  jmethodID constructor = env->GetMethodID(type.get(), "<init>", "(ILjava/lang/String;)V");
  check_pending(env);
  const Local<jstring> text = to_java(env, message);
  const Local<jobject> exception(
      env, env->NewObject(type.get(), constructor, static_cast<jint>(status), text.get()));
  env->Throw(static_cast<jthrowable>(exception.get()));
  throw PendingException();
}

void make_pending(JNIEnv* env, const char* class_name, const char* message) noexcept {
  if (env->ExceptionCheck()) return;
  jclass type = env->FindClass(class_name);
  if (type) env->ThrowNew(type, message);
}

std::vector<int64_t> to_dims(JNIEnv* env, jlongArray dims) {
  if (!dims) throw_vellum(env, VELLUM_INVALID_ARGUMENT, "a shape is null");
  static_assert(sizeof(jlong) == sizeof(int64_t));
  std::vector<jlong> values(static_cast<size_t>(env->GetArrayLength(dims)));
  env->GetLongArrayRegion(dims, 0, static_cast<jsize>(values.size()), values.data());
  return {values.begin(), values.end()};
}

std::vector<std::vector<int64_t>> to_dims(JNIEnv* env, jobjectArray shapes) {
  std::vector<std::vector<int64_t>> all(static_cast<size_t>(env->GetArrayLength(shapes)));
  for (size_t i = 0; i < all.size(); ++i) {
    const Local<jlongArray> dims(env, env->GetObjectArrayElement(shapes, static_cast<jsize>(i)));
    all[i] = to_dims(env, dims.get());
  }
  return all;
}

std::byte* memory_of(JNIEnv* env, jobject buffer, jint offset, jint count) {
  // The address of an empty buffer may be null.
  static std::byte none;
  if (count == 0 && buffer) return &none;
  auto* address = buffer ? static_cast<std::byte*>(env->GetDirectBufferAddress(buffer)) : nullptr;
  if (!address || offset < 0 || count < 0 || jlong{offset} + count > env->GetDirectBufferCapacity(buffer))
    throw_vellum(env, VELLUM_INVALID_ARGUMENT, "the buffer is not direct, or too small");
  return address + offset;
}

JavaObject::JavaObject(JNIEnv* env, jobject object)
    : env_(env), type_(env, env->GetObjectClass(object)), object_(env, env->NewLocalRef(object)) {}

JavaObject::JavaObject(JNIEnv* env, Local<jclass> type, Local<jobject> object)
    : env_(env), type_(std::move(type)), object_(std::move(object)) {}

JavaObject JavaObject::make(JNIEnv* env, const char* class_name) {
  Local<jclass> type(env, env->FindClass(class_name));
  jmethodID constructor = env->GetMethodID(type.get(), "<init>", "()V");
  check_pending(env);
  Local<jobject> object(env, env->NewObject(type.get(), constructor));
  return {env, std::move(type), std::move(object)};
}

jfieldID JavaObject::id(const char* field, const char* signature) const {
  jfieldID found = env_->GetFieldID(type_.get(), field, signature);
  check_pending(env_);
  return found;
}

jint JavaObject::get_int(const char* field) const { return env_->GetIntField(object_.get(), id(field, "I")); }
jlong JavaObject::get_long(const char* field) const {
  return env_->GetLongField(object_.get(), id(field, "J"));
}
bool JavaObject::get_bool(const char* field) const {
  return env_->GetBooleanField(object_.get(), id(field, "Z")) != JNI_FALSE;
}
float JavaObject::get_float(const char* field) const {
  return env_->GetFloatField(object_.get(), id(field, "F"));
}
double JavaObject::get_double(const char* field) const {
  return env_->GetDoubleField(object_.get(), id(field, "D"));
}

std::string JavaObject::get_string(const char* field, bool* is_null) const {
  const Local<jstring> text = get<jstring>(field, "Ljava/lang/String;");
  *is_null = !text;
  return text ? to_utf8(env_, text.get()) : std::string();
}

void JavaObject::set_int(const char* field, jint value) {
  env_->SetIntField(object_.get(), id(field, "I"), value);
}
void JavaObject::set_long(const char* field, uint64_t value) {
  env_->SetLongField(object_.get(), id(field, "J"), static_cast<jlong>(value));
}
void JavaObject::set_bool(const char* field, bool value) {
  env_->SetBooleanField(object_.get(), id(field, "Z"), value ? JNI_TRUE : JNI_FALSE);
}
void JavaObject::set_float(const char* field, float value) {
  env_->SetFloatField(object_.get(), id(field, "F"), value);
}
void JavaObject::set_double(const char* field, double value) {
  env_->SetDoubleField(object_.get(), id(field, "D"), value);
}
void JavaObject::set_string(const char* field, const char* value) {
  set(field, "Ljava/lang/String;", to_java(env_, value).get());
}
void JavaObject::set(const char* field, const char* signature, jobject value) {
  env_->SetObjectField(object_.get(), id(field, signature), value);
}

}  // namespace vellum::jni

#include "handles.hpp"
#include "support.hpp"

namespace vellum::jni {
namespace {

// The two jni.h declare the parameter differently.
#ifdef __ANDROID__
JNIEnv** env_parameter(JNIEnv** env) { return env; }
#else
void** env_parameter(JNIEnv** env) { return reinterpret_cast<void**>(env); }
#endif

}  // namespace

Listener::Attachment::Attachment(JavaVM* of) : vm(of) {
  void* existing = nullptr;
  if (vm->GetEnv(&existing, JNI_VERSION_1_6) == JNI_OK) {
    env = static_cast<JNIEnv*>(existing);
  } else {
    attached = vm->AttachCurrentThreadAsDaemon(env_parameter(&env), nullptr) == JNI_OK;
    if (!attached) env = nullptr;
  }
}

Listener::Attachment::~Attachment() {
  if (attached) vm->DetachCurrentThread();
}

Listener::Listener(JNIEnv* env, jobject listener, const char* method, const char* signature) {
  env->GetJavaVM(&vm_);
  // Found here, where the class loader is the application's; that of a driver's thread knows only the JVM's
  // classes.
  const Local<jclass> callbacks(env, env->FindClass("io/vellum/Callbacks"));
  method_ = env->GetStaticMethodID(callbacks.get(), method, signature);
  check_pending(env);
  callbacks_ = static_cast<jclass>(env->NewGlobalRef(callbacks.get()));
  listener_ = env->NewGlobalRef(listener);
}

Listener::~Listener() {
  const Attachment attachment(vm_);
  if (!attachment.env) return;
  attachment.env->DeleteGlobalRef(callbacks_);
  attachment.env->DeleteGlobalRef(listener_);
}

}  // namespace vellum::jni

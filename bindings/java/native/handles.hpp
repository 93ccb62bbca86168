// The objects behind Java's handles, where a handle of the C interface alone does not suffice.
#pragma once

#include <jni.h>

#include "vellum/vellum.h"

namespace vellum::jni {

// The Java object that receives the calls of a C callback.
class Listener {
 public:
  // method: a static method of io.vellum.Callbacks. Throws PendingException.
  Listener(JNIEnv* env, jobject listener, const char* method, const char* signature);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();

  // Calls call(env, callbacks, method, listener). May be called on any thread. If the Java method throws, the
  // exception is cleared.
  template <typename Call>
  void notify(const Call& call) const noexcept {
    Attachment attachment(vm_);
    if (!attachment.env || attachment.env->PushLocalFrame(8) != 0) return;
    call(attachment.env, callbacks_, method_, listener_);
    attachment.env->ExceptionClear();
    attachment.env->PopLocalFrame(nullptr);
  }

 private:
  // Attaches a driver's thread to the JVM during the call.
  struct Attachment {
    explicit Attachment(JavaVM* vm);
    ~Attachment();
    JavaVM* vm;
    JNIEnv* env = nullptr;
    bool attached = false;
  };

  JavaVM* vm_ = nullptr;
  jclass callbacks_ = nullptr;
  jobject listener_ = nullptr;
  jmethodID method_ = nullptr;
};

// A device and the listener of its log, which must live as long as the device. Java destroys a device after
// everything that was made on it.
struct JavaDevice {
  vellum_device* device = nullptr;
  Listener* log = nullptr;
};

}  // namespace vellum::jni

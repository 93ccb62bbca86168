#include <cstring>
#include <list>
#include <vector>

#include "handles.hpp"
#include "options.hpp"
#include "pictures.hpp"
#include "support.hpp"

using vellum::jni::check;
using vellum::jni::from_long;
using vellum::jni::guarded;
using vellum::jni::JavaDevice;
using vellum::jni::JavaObject;
using vellum::jni::Local;
using vellum::jni::make_object;
using vellum::jni::memory_of;
using vellum::jni::SessionOptions;
using vellum::jni::to_utf8;

namespace {

// A BundleVariants as the C variants, with what they point to.
class Variants {
 public:
  Variants(JNIEnv* env, jobject object) {
    const JavaObject java(env, object);
    vellum_bundle_variants_init(&variants_);
    const auto array = [&](const char* field, const char* signature) {
      return java.get<jobjectArray>(field, signature);
    };
    inputs_ = vellum::jni::to_strings(env, array("inputs", "[Ljava/lang/String;").get());
    outputs_ = vellum::jni::to_strings(env, array("outputs", "[Ljava/lang/String;").get());
    const auto frames = array("frames", "[Lio/vellum/FrameInput;");
    const auto pictures = array("pictures", "[Lio/vellum/PictureOutput;");
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Local<jobject> frame(env, env->GetObjectArrayElement(frames.get(), static_cast<jsize>(i)));
      frame_entries_.push_back({inputs_[i].c_str(), &frames_.emplace_back(env, frame.get()).input});
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const Local<jobject> picture(env, env->GetObjectArrayElement(pictures.get(), static_cast<jsize>(i)));
      picture_entries_.push_back({outputs_[i].c_str(), &pictures_.emplace_back(env, picture.get()).output});
    }
    variants_.frames = frame_entries_.data();
    variants_.frame_count = frame_entries_.size();
    variants_.pictures = picture_entries_.data();
    variants_.picture_count = picture_entries_.size();
    variants_.images = java.get_bool("images");
    bool no_signature = false;
    signature_ = java.get_string("signature", &no_signature);
    variants_.signature = no_signature ? nullptr : signature_.c_str();
  }
  Variants(const Variants&) = delete;
  Variants& operator=(const Variants&) = delete;

  const vellum_bundle_variants* get() const { return &variants_; }

 private:
  vellum_bundle_variants variants_;
  std::vector<std::string> inputs_, outputs_;
  std::string signature_;
  std::list<vellum::jni::Frame> frames_;  // whose elements stay where they are
  std::list<vellum::jni::Picture> pictures_;
  std::vector<vellum_bundle_frame> frame_entries_;
  std::vector<vellum_bundle_picture> picture_entries_;
};

Local<jobject> summary_to_java(JNIEnv* env, const vellum_bundle_summary& summary, jobject bytes) {
  return make_object(env, "io/vellum/Bundle", [&](JavaObject& java) {
    java.set_long("shaders", summary.shaders);
    java.set_long("weights", summary.weights);
    java.set_long("weightsBytes", summary.weights_bytes);
    java.set_long("fileBytes", summary.file_bytes);
    java.set("bytes", "Ljava/nio/ByteBuffer;", bytes);
  });
}

// vellum_write_callback
int32_t append(const void* bytes, size_t count, void* user) {
  auto* all = static_cast<std::vector<std::byte>*>(user);
  const auto* first = static_cast<const std::byte*>(bytes);
  try {
    all->insert(all->end(), first, first + count);
  } catch (const std::exception&) {
    return 1;
  }
  return 0;
}

// A direct buffer with a copy of the bytes.
Local<jobject> buffer_of(JNIEnv* env, const std::vector<std::byte>& bytes) {
  const Local<jclass> type(env, env->FindClass("io/vellum/Buffers"));
  jmethodID allocate = env->GetStaticMethodID(type.get(), "allocate", "(J)Ljava/nio/ByteBuffer;");
  vellum::jni::check_pending(env);
  jobject made = env->CallStaticObjectMethod(type.get(), allocate, static_cast<jlong>(bytes.size()));
  vellum::jni::check_pending(env);
  Local<jobject> buffer(env, made);
  std::memcpy(memory_of(env, buffer.get(), 0, static_cast<jint>(bytes.size())), bytes.data(), bytes.size());
  return buffer;
}

}  // namespace

VELLUM_JNI(jobject, writeBundle)
(JNIEnv* env, jclass, jstring model, jstring file, jlong device, jstring caps, jobject options,
 jobject java_variants) {
  return guarded(env, [&] {
    const SessionOptions session(env, options);
    const Variants variants(env, java_variants);
    const std::string caps_text = caps ? to_utf8(env, caps) : std::string();
    vellum_error error;
    vellum_bundle_summary summary{};
    summary.size = sizeof summary;
    check(env,
          vellum_write_bundle_with_variants(to_utf8(env, model).c_str(), to_utf8(env, file).c_str(),
                                            device ? from_long<JavaDevice>(device)->device : nullptr,
                                            caps ? caps_text.c_str() : nullptr, session.get(), variants.get(),
                                            &summary, &error),
          error);
    return summary_to_java(env, summary, nullptr).release();
  });
}

VELLUM_JNI(jobject, bundleInMemory)
(JNIEnv* env, jclass, jobject model, jint offset, jint count, jlong device, jstring caps, jobject options,
 jobject java_variants) {
  return guarded(env, [&] {
    const SessionOptions session(env, options);
    const Variants variants(env, java_variants);
    const std::string caps_text = caps ? to_utf8(env, caps) : std::string();
    const std::byte* memory = memory_of(env, model, offset, count);
    std::vector<std::byte> bundle;
    vellum_error error;
    vellum_bundle_summary summary{};
    summary.size = sizeof summary;
    check(env,
          vellum_bundle_in_memory_with_variants(memory, static_cast<size_t>(count), append, &bundle,
                                                device ? from_long<JavaDevice>(device)->device : nullptr,
                                                caps ? caps_text.c_str() : nullptr, session.get(),
                                                variants.get(), &summary, &error),
          error);
    return summary_to_java(env, summary, buffer_of(env, bundle).get()).release();
  });
}

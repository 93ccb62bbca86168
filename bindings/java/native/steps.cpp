#include <memory>

#include "run_tensors.hpp"
#include "support.hpp"

using vellum::jni::check;
using vellum::jni::check_pending;
using vellum::jni::DestroyTensor;
using vellum::jni::from_long;
using vellum::jni::guarded;
using vellum::jni::Inputs;
using vellum::jni::JavaObject;
using vellum::jni::Local;
using vellum::jni::tensor_values_to_java;
using vellum::jni::to_long;
using vellum::jni::to_strings;
using vellum::jni::to_utf8;

namespace {

// The C options, with what they point to.
class StepOptions {
 public:
  StepOptions(JNIEnv* env, jobject options) {
    const JavaObject java(env, options);
    const auto names = [&](const char* field) {
      return to_strings(env, java.get<jobjectArray>(field, "[Ljava/lang/String;").get());
    };
    vellum_step_options_init(&options_);
    options_.steps = static_cast<uint32_t>(java.get_int("steps"));
    options_.steps_per_submit = static_cast<uint32_t>(java.get_int("stepsPerSubmit"));
    outputs_ = names("feedbackOutputs"), inputs_ = names("feedbackInputs");
    for (size_t i = 0; i < outputs_.size(); ++i)
      feedback_.push_back({outputs_[i].c_str(), inputs_.at(i).c_str()});
    options_.feedback = feedback_.data(), options_.feedback_count = feedback_.size();
    step_inputs_ = names("stepInputs"), step_outputs_ = names("stepOutputs");
    input_pointers_ = pointers(step_inputs_), output_pointers_ = pointers(step_outputs_);
    options_.step_inputs = input_pointers_.data(), options_.step_input_count = input_pointers_.size();
    options_.step_outputs = output_pointers_.data(), options_.step_output_count = output_pointers_.size();
    bool has_no_end = false;
    end_output_ = java.get_string("endOutput", &has_no_end);
    if (!has_no_end) options_.end_output = end_output_.c_str();
    end_values_ = vellum::jni::to_dims(env, java.get<jlongArray>("endValues", "[J").get());
    options_.end_values = end_values_.data(), options_.end_value_count = end_values_.size();
  }
  StepOptions(const StepOptions&) = delete;
  StepOptions& operator=(const StepOptions&) = delete;

  const vellum_step_options* get() const { return &options_; }

 private:
  static std::vector<const char*> pointers(const std::vector<std::string>& names) {
    std::vector<const char*> result;
    for (const std::string& name : names) result.push_back(name.c_str());
    return result;
  }

  std::vector<std::string> outputs_, inputs_, step_inputs_, step_outputs_;
  std::vector<vellum_feedback> feedback_;
  std::vector<const char*> input_pointers_, output_pointers_;
  std::string end_output_;
  std::vector<int64_t> end_values_;
  vellum_step_options options_;
};

// The StepListener that a run's callbacks go to, all on the thread of the run. One that throws leaves its
// exception pending, and stops the run.
class StepCalls {
 public:
  StepCalls(JNIEnv* env, jobject listener) : env_(env), listener_(listener) {
    const Local<jclass> type(env, env->GetObjectClass(listener));
    progress_ = env->GetMethodID(type.get(), "progress", "(I)Z");
    check_pending(env);
  }

  bool go_on(uint32_t steps) const {
    const jboolean answer = env_->CallBooleanMethod(listener_, progress_, static_cast<jint>(steps));
    return !env_->ExceptionCheck() && answer;
  }

 private:
  JNIEnv* env_;
  jobject listener_;
  jmethodID progress_ = nullptr;
};

int32_t steps_to_java(uint32_t steps, void* user) {
  return static_cast<const StepCalls*>(user)->go_on(steps) ? 0 : 1;
}

}  // namespace

VELLUM_JNI(jlong, stepLoopCreate)(JNIEnv* env, jclass, jlong session, jobject options) {
  return guarded(env, [&] {
    const StepOptions given(env, options);
    vellum_error error;
    vellum_step_loop* loop = nullptr;
    check(env, vellum_step_loop_create(from_long<vellum_session>(session), given.get(), &loop, &error),
          error);
    return to_long(loop);
  });
}

VELLUM_JNI(void, stepLoopDestroy)(JNIEnv*, jclass, jlong loop) {
  vellum_step_loop_destroy(from_long<vellum_step_loop>(loop));
}

VELLUM_JNI(jlongArray, stepLoopRun)
(JNIEnv* env, jclass, jlong loop, jlong session, jobjectArray names, jobjectArray shapes, jobjectArray values,
 jobject progress) {
  return guarded(env, [&] {
    const Inputs inputs(env, names, shapes, values);
    std::unique_ptr<StepCalls> calls;
    if (progress) calls = std::make_unique<StepCalls>(env, progress);
    vellum_error error;
    vellum_step_results results{};
    results.size = sizeof results;
    const vellum_status status = vellum_step_loop_run(
        from_long<vellum_step_loop>(loop), from_long<vellum_session>(session), inputs.values.data(),
        inputs.values.size(), calls ? steps_to_java : nullptr, calls.get(), &results, &error);
    check_pending(env);
    check(env, status, error);
    const jlong counts[] = {static_cast<jlong>(results.steps), static_cast<jlong>(results.ended)};
    Local<jlongArray> array(env, env->NewLongArray(2));
    env->SetLongArrayRegion(array.get(), 0, 2, counts);
    return array.release();
  });
}

VELLUM_JNI(jobject, stepLoopOutput)(JNIEnv* env, jclass, jlong loop, jstring name) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_tensor* made = nullptr;
    check(
        env,
        vellum_step_loop_output(from_long<vellum_step_loop>(loop), to_utf8(env, name).c_str(), &made, &error),
        error);
    const std::unique_ptr<vellum_tensor, DestroyTensor> tensor(made);
    return tensor_values_to_java(env, tensor.get()).release();
  });
}

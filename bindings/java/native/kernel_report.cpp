#include "handles.hpp"
#include "options.hpp"
#include "support.hpp"

using vellum::jni::check;
using vellum::jni::from_long;
using vellum::jni::guarded;
using vellum::jni::JavaDevice;
using vellum::jni::JavaObject;
using vellum::jni::Local;
using vellum::jni::make_array;
using vellum::jni::make_object;
using vellum::jni::SessionOptions;
using vellum::jni::to_long;

namespace {

vellum_device_rates to_rates(JNIEnv* env, jobject object) {
  const JavaObject java(env, object);
  vellum_device_rates rates{};
  rates.size = sizeof rates;
  rates.gigamacs_per_s = java.get_double("gigamacsPerSecond");
  rates.gigabytes_per_s = java.get_double("gigabytesPerSecond");
  rates.units = static_cast<uint32_t>(java.get_int("units"));
  rates.lanes = static_cast<uint32_t>(java.get_int("lanes"));
  rates.latency_ns = java.get_double("latencyNs");
  rates.launch_us = java.get_double("launchUs");
  rates.barrier_us = java.get_double("barrierUs");
  return rates;
}

// Reads rates with read(rates, known, error); null if they are not known.
template <typename Read>
jobject rates_to_java(JNIEnv* env, const Read& read) {
  vellum_error error;
  vellum_device_rates rates{};
  rates.size = sizeof rates;
  int32_t known = 0;
  check(env, read(&rates, &known, &error), error);
  if (!known) return nullptr;
  return make_object(env, "io/vellum/DeviceRates",
                     [&](JavaObject& java) {
                       java.set_double("gigamacsPerSecond", rates.gigamacs_per_s);
                       java.set_double("gigabytesPerSecond", rates.gigabytes_per_s);
                       java.set_int("units", static_cast<jint>(rates.units));
                       java.set_int("lanes", static_cast<jint>(rates.lanes));
                       java.set_double("latencyNs", rates.latency_ns);
                       java.set_double("launchUs", rates.launch_us);
                       java.set_double("barrierUs", rates.barrier_us);
                     })
      .release();
}

Local<jintArray> three(JNIEnv* env, const uint32_t (&values)[3]) {
  Local<jintArray> array(env, env->NewIntArray(3));
  env->SetIntArrayRegion(array.get(), 0, 3, reinterpret_cast<const jint*>(values));
  return array;
}

Local<jobject> code_to_java(JNIEnv* env, const vellum_kernel_code& code) {
  return make_object(env, "io/vellum/KernelCode", [&](JavaObject& java) {
    java.set_string("name", code.name);
    java.set_int("subgroupSize", static_cast<jint>(code.subgroup_size));
    java.set_double("registers", code.registers);
    java.set_double("spills", code.spills);
    java.set_double("residentSubgroups", code.resident_subgroups);
    java.set_double("sharedMemoryBytes", code.shared_memory_bytes);
    java.set_double("instructions", code.instructions);
    java.set_double("cycles", code.cycles);
    const Local<jobjectArray> statistics(
        env, make_array(env, "io/vellum/KernelStatistic", code.statistic_count, [&](size_t i) {
          return make_object(env, "io/vellum/KernelStatistic", [&](JavaObject& one) {
            one.set_string("name", code.statistics[i].name);
            one.set_string("description", code.statistics[i].description);
            one.set_double("value", code.statistics[i].value);
          });
        }));
    java.set("statistics", "[Lio/vellum/KernelStatistic;", statistics.get());
    const Local<jobjectArray> representations(
        env, make_array(env, "io/vellum/KernelRepresentation", code.representation_count, [&](size_t i) {
          return make_object(env, "io/vellum/KernelRepresentation", [&](JavaObject& one) {
            one.set_string("name", code.representations[i].name);
            one.set_string("description", code.representations[i].description);
            one.set_string("text", code.representations[i].text);
          });
        }));
    java.set("representations", "[Lio/vellum/KernelRepresentation;", representations.get());
  });
}

Local<jobject> pipeline_to_java(JNIEnv* env, const vellum_kernel_report* report, size_t index) {
  vellum_error error;
  vellum_kernel_pipeline pipeline{};
  pipeline.size = sizeof pipeline;
  check(env, vellum_kernel_report_pipeline(report, index, &pipeline, &error), error);
  std::vector<const char*> names, values;
  for (size_t i = 0; i < pipeline.define_count; ++i) {
    names.push_back(pipeline.defines[i].name);
    values.push_back(pipeline.defines[i].value);
  }
  return make_object(env, "io/vellum/KernelPipeline", [&](JavaObject& java) {
    java.set_string("shader", pipeline.shader);
    java.set_string("variant", pipeline.variant);
    const Local<jobjectArray> java_names(env, vellum::jni::to_java(env, names)),
        java_values(env, vellum::jni::to_java(env, values));
    java.set("defineNames", "[Ljava/lang/String;", java_names.get());
    java.set("defineValues", "[Ljava/lang/String;", java_values.get());
    java.set("workgroupSize", "[I", three(env, pipeline.workgroup_size).get());
    const Local<jobjectArray> codes(
        env, make_array(env, "io/vellum/KernelCode", pipeline.code_count, [&](size_t i) {
          vellum_kernel_code code{};
          code.size = sizeof code;
          check(env, vellum_kernel_report_code(report, index, i, &code, &error), error);
          return code_to_java(env, code);
        }));
    java.set("codes", "[Lio/vellum/KernelCode;", codes.get());
  });
}

Local<jobject> dispatch_to_java(JNIEnv* env, const vellum_kernel_dispatch& dispatch) {
  return make_object(env, "io/vellum/KernelDispatch", [&](JavaObject& java) {
    java.set_string("name", dispatch.name);
    java.set_string("op", dispatch.op);
    java.set_int("pipeline", static_cast<jint>(dispatch.pipeline));
    java.set("workgroups", "[I", three(env, dispatch.workgroups).get());
    java.set_bool("barrier", dispatch.barrier != 0);
    java.set_long("invocations", dispatch.invocations);
    java.set_long("subgroups", dispatch.subgroups);
    java.set_long("macs", dispatch.macs);
    java.set_long("bytes", dispatch.bytes);
    java.set_double("computeUs", dispatch.compute_us);
    java.set_double("memoryUs", dispatch.memory_us);
    java.set_double("predictedUs", dispatch.predicted_us);
    java.set_double("latencyUs", dispatch.latency_us);
    java.set_double("overheadUs", dispatch.overhead_us);
    java.set_double("steps", dispatch.steps);
    java.set_double("busy", dispatch.busy);
    java.set_double("waves", dispatch.waves);
    java.set_double("efficiency", dispatch.efficiency);
  });
}

}  // namespace

VELLUM_JNI(jobject, knownRates)(JNIEnv* env, jclass, jlong device) {
  return guarded(env, [&] {
    return rates_to_java(env, [&](vellum_device_rates* rates, int32_t* known, vellum_error* error) {
      return vellum_device_known_rates(from_long<JavaDevice>(device)->device, rates, known, error);
    });
  });
}

VELLUM_JNI(jlong, kernelReport)
(JNIEnv* env, jclass, jlong device, jlong model, jobject options, jobject java_rates,
 jboolean representations) {
  return guarded(env, [&] {
    const SessionOptions session(env, options);
    vellum_kernel_report_options report_options;
    vellum_kernel_report_options_init(&report_options);
    vellum_device_rates rates{};
    if (java_rates) {
      rates = to_rates(env, java_rates);
      report_options.rates = &rates;
    }
    report_options.representations = representations;
    vellum_error error;
    vellum_kernel_report* report = nullptr;
    check(env,
          vellum_kernel_report_create(from_long<JavaDevice>(device)->device, from_long<vellum_model>(model),
                                      session.get(), &report_options, &report, &error),
          error);
    return to_long(report);
  });
}

VELLUM_JNI(void, kernelReportDestroy)(JNIEnv*, jclass, jlong report) {
  vellum_kernel_report_destroy(from_long<vellum_kernel_report>(report));
}

VELLUM_JNI(jobjectArray, kernelReportPipelines)(JNIEnv* env, jclass, jlong address) {
  return guarded(env, [&] {
    const auto* report = from_long<vellum_kernel_report>(address);
    return make_array(env, "io/vellum/KernelPipeline", vellum_kernel_report_pipeline_count(report),
                      [&](size_t i) { return pipeline_to_java(env, report, i); });
  });
}

VELLUM_JNI(jobjectArray, kernelReportDispatches)(JNIEnv* env, jclass, jlong address) {
  return guarded(env, [&] {
    const auto* report = from_long<vellum_kernel_report>(address);
    const size_t count = vellum_kernel_report_dispatch_count(report);
    return make_array(env, "io/vellum/KernelDispatch", count, [&](size_t i) {
      vellum_error error;
      vellum_kernel_dispatch dispatch{};
      dispatch.size = sizeof dispatch;
      check(env, vellum_kernel_report_dispatch(report, i, &dispatch, &error), error);
      return dispatch_to_java(env, dispatch);
    });
  });
}

VELLUM_JNI(jobject, kernelReportRates)(JNIEnv* env, jclass, jlong report) {
  return guarded(env, [&] {
    return rates_to_java(env, [&](vellum_device_rates* rates, int32_t* known, vellum_error* error) {
      return vellum_kernel_report_rates(from_long<vellum_kernel_report>(report), rates, known, error);
    });
  });
}

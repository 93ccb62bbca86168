#include <memory>

#include "handles.hpp"
#include "options.hpp"
#include "reports.hpp"
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
using vellum::jni::take_text;
using vellum::jni::to_long;
using vellum::jni::to_utf8;

namespace {

// The device or the caps that an estimate, a plan or a frontier is computed for.
struct Target {
  Target(JNIEnv* env, jlong java_device, jstring java_caps)
      : device(java_device ? from_long<JavaDevice>(java_device)->device : nullptr),
        text(java_caps ? to_utf8(env, java_caps) : std::string()),
        caps(java_caps ? text.c_str() : nullptr) {}
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  const vellum_device* device;
  std::string text;
  const char* caps;
};

Local<jlongArray> dims_to_java(JNIEnv* env, const int64_t* dims, size_t rank) {
  const std::vector<jlong> values(dims, dims + rank);
  Local<jlongArray> array(env, env->NewLongArray(static_cast<jsize>(rank)));
  env->SetLongArrayRegion(array.get(), 0, static_cast<jsize>(rank), values.data());
  return array;
}

Local<jobjectArray> names_to_java(JNIEnv* env, const char* const* names, size_t count) {
  return {env, vellum::jni::to_java(env, std::vector<const char*>(names, names + count))};
}

Local<jobject> node_to_java(JNIEnv* env, const vellum_node_info& node) {
  return make_object(env, "io/vellum/NodeInfo", [&](JavaObject& java) {
    java.set_string("name", node.name);
    java.set_string("op", node.op);
    java.set_string("attributes", node.attributes);
    java.set("inputs", "[Ljava/lang/String;", names_to_java(env, node.inputs, node.input_count).get());
    java.set("outputs", "[Ljava/lang/String;", names_to_java(env, node.outputs, node.output_count).get());
    const Local<jobjectArray> shapes(env, make_array(env, "[J", node.output_count, [&](size_t i) {
                                       return dims_to_java(env, node.output_shapes[i].dims,
                                                           node.output_shapes[i].rank);
                                     }));
    java.set("outputShapes", "[[J", shapes.get());
    java.set_long("parameters", node.parameters);
    java.set_long("macs", node.macs);
  });
}

Local<jobject> tensor_to_java(JNIEnv* env, const vellum_tensor_report& tensor) {
  return make_object(env, "io/vellum/TensorReport", [&](JavaObject& java) {
    java.set_string("name", tensor.name);
    java.set_string("op", tensor.op);
    java.set_string("role", tensor.role);
    java.set("shape", "[J", dims_to_java(env, tensor.dims, tensor.rank).get());
    java.set_int("object", static_cast<jint>(tensor.object));
    java.set_long("offset", tensor.offset);
    java.set_long("firstTask", static_cast<uint64_t>(tensor.first_task));
    java.set_long("lastTask", static_cast<uint64_t>(tensor.last_task));
    java.set_long("bytes", tensor.bytes);
  });
}

vellum_memory_report report_of(JNIEnv* env, const vellum_memory_plan* plan) {
  vellum_error error;
  vellum_memory_report report{};
  report.size = sizeof report;
  check(env, vellum_memory_plan_report(plan, &report, &error), error);
  return report;
}

// Empty for null.
std::vector<double> to_doubles(JNIEnv* env, jdoubleArray java) {
  std::vector<double> values(java ? static_cast<size_t>(env->GetArrayLength(java)) : 0);
  if (java) env->GetDoubleArrayRegion(java, 0, static_cast<jsize>(values.size()), values.data());
  return values;
}

}  // namespace

VELLUM_JNI(jobjectArray, modelNodes)
(JNIEnv* env, jclass, jlong model, jobjectArray java_names, jobjectArray java_shapes) {
  return guarded(env, [&] {
    const std::vector<std::string> names = vellum::jni::to_strings(env, java_names);
    const std::vector<std::vector<int64_t>> dims = vellum::jni::to_dims(env, java_shapes);
    const std::vector<vellum_input_shape> shapes = vellum::jni::input_shapes(env, names, dims);
    vellum_error error;
    vellum_node_list* made = nullptr;
    check(env,
          vellum_node_list_create(from_long<vellum_model>(model), shapes.data(), shapes.size(), &made, &error),
          error);
    const std::unique_ptr<vellum_node_list, decltype(&vellum_node_list_destroy)> list(
        made, vellum_node_list_destroy);
    return make_array(env, "io/vellum/NodeInfo", vellum_node_list_count(list.get()), [&](size_t i) {
      vellum_node_info node{};
      node.size = sizeof node;
      check(env, vellum_node_list_get(list.get(), i, &node, &error), error);
      return node_to_java(env, node);
    });
  });
}

VELLUM_JNI(jstring, describe)
(JNIEnv* env, jclass, jlong model, jstring stage, jobject options, jlong device, jstring caps) {
  return guarded(env, [&] {
    const SessionOptions session(env, options);
    const Target target(env, device, caps);
    vellum_error error;
    vellum_text* made = nullptr;
    check(env,
          vellum_describe(from_long<vellum_model>(model), to_utf8(env, stage).c_str(), session.get(),
                          target.device, target.caps, &made, &error),
          error);
    return take_text(env, made).release();
  });
}

VELLUM_JNI(jstring, graphPasses)(JNIEnv* env, jclass) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_text* made = nullptr;
    check(env, vellum_graph_passes(&made, &error), error);
    return take_text(env, made).release();
  });
}

VELLUM_JNI(jobject, measureMemory)
(JNIEnv* env, jclass, jstring model, jobject options, jobject device_options) {
  return guarded(env, [&] {
    const SessionOptions session(env, options);
    vellum::jni::DeviceOptions device(env, device_options);
    vellum_error error;
    vellum_memory_measurement measured{};
    measured.size = sizeof measured;
    check(env,
          vellum_measure_memory(to_utf8(env, model).c_str(), session.get(), &device.get(), &measured, &error),
          error);
    return make_object(env, "io/vellum/MemoryMeasurement",
                       [&](JavaObject& java) {
                         java.set_long("weights", measured.weights);
                         java.set_long("inOut", measured.in_out);
                         java.set_long("state", measured.state);
                         java.set_long("intermediates", measured.intermediates);
                         java.set_long("workspace", measured.workspace);
                         java.set_long("staging", measured.staging);
                         java.set_long("resident", measured.resident);
                         java.set_long("total", measured.total);
                         java.set_long("allocatedPeak", measured.allocated_peak);
                         java.set_bool("driverIncluded", measured.driver_included != 0);
                         java.set_bool("heapKnown", measured.heap_known != 0);
                         java.set_bool("processKnown", measured.process_known != 0);
                         java.set_long("heapBytes", measured.heap_bytes);
                         java.set_long("processBytes", measured.process_bytes);
                       })
        .release();
  });
}

VELLUM_JNI(jlong, planCreate)
(JNIEnv* env, jclass, jlong model, jobject options, jlong device, jstring caps) {
  return guarded(env, [&] {
    const SessionOptions session(env, options);
    const Target target(env, device, caps);
    vellum_error error;
    vellum_memory_plan* plan = nullptr;
    check(env,
          vellum_memory_plan_create(from_long<vellum_model>(model), session.get(), target.device, target.caps,
                                    &plan, &error),
          error);
    return to_long(plan);
  });
}

VELLUM_JNI(jlong, planOfSession)(JNIEnv* env, jclass, jlong session) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_memory_plan* plan = nullptr;
    check(env, vellum_memory_plan_of_session(from_long<vellum_session>(session), &plan, &error), error);
    return to_long(plan);
  });
}

VELLUM_JNI(void, planDestroy)(JNIEnv*, jclass, jlong plan) {
  vellum_memory_plan_destroy(from_long<vellum_memory_plan>(plan));
}

VELLUM_JNI(jobject, planReport)(JNIEnv* env, jclass, jlong address) {
  return guarded(env, [&] {
    const auto* plan = from_long<vellum_memory_plan>(address);
    vellum_error error;
    return vellum::jni::report_to_java(
               env, report_of(env, plan),
               [&](size_t i, vellum_object_report* object) {
                 return vellum_memory_plan_object(plan, i, object, &error);
               },
               error)
        .release();
  });
}

VELLUM_JNI(jobjectArray, planTensors)(JNIEnv* env, jclass, jlong address) {
  return guarded(env, [&] {
    const auto* plan = from_long<vellum_memory_plan>(address);
    return make_array(env, "io/vellum/TensorReport", report_of(env, plan).tensor_count, [&](size_t i) {
      vellum_error error;
      vellum_tensor_report tensor{};
      tensor.size = sizeof tensor;
      check(env, vellum_memory_plan_tensor(plan, i, &tensor, &error), error);
      return tensor_to_java(env, tensor);
    });
  });
}

VELLUM_JNI(jstring, planSvg)(JNIEnv* env, jclass, jlong plan, jstring title) {
  return guarded(env, [&] {
    vellum_error error;
    vellum_text* svg = nullptr;
    check(env,
          vellum_memory_plan_svg(from_long<vellum_memory_plan>(plan), to_utf8(env, title).c_str(), &svg,
                                 &error),
          error);
    return take_text(env, svg).release();
  });
}

VELLUM_JNI(jlong, frontierCreate)
(JNIEnv* env, jclass, jlong model, jobject options, jlong device, jstring caps, jlongArray java_budgets) {
  return guarded(env, [&] {
    const SessionOptions session(env, options);
    const Target target(env, device, caps);
    const std::vector<int64_t> given = vellum::jni::to_dims(env, java_budgets);
    const std::vector<uint64_t> budgets(given.begin(), given.end());
    vellum_frontier_options frontier_options;
    vellum_frontier_options_init(&frontier_options);
    if (!budgets.empty()) frontier_options.budgets = budgets.data();
    frontier_options.budget_count = budgets.size();
    vellum_error error;
    vellum_memory_frontier* frontier = nullptr;
    check(env,
          vellum_memory_frontier_create(from_long<vellum_model>(model), session.get(), target.device,
                                        target.caps, &frontier_options, &frontier, &error),
          error);
    return to_long(frontier);
  });
}

VELLUM_JNI(void, frontierDestroy)(JNIEnv*, jclass, jlong frontier) {
  vellum_memory_frontier_destroy(from_long<vellum_memory_frontier>(frontier));
}

VELLUM_JNI(jobjectArray, frontierPoints)(JNIEnv* env, jclass, jlong address) {
  return guarded(env, [&] {
    const auto* frontier = from_long<vellum_memory_frontier>(address);
    return make_array(env, "io/vellum/FrontierPoint", vellum_memory_frontier_count(frontier), [&](size_t i) {
      vellum_error error;
      vellum_frontier_point point{};
      point.size = sizeof point;
      check(env, vellum_memory_frontier_point(frontier, i, &point, &error), error);
      return make_object(env, "io/vellum/FrontierPoint", [&](JavaObject& java) {
        java.set_long("budget", point.budget);
        java.set_long("bytes", point.bytes);
        java.set_long("weightsBytes", point.weights_bytes);
        java.set_long("streamedBytes", point.streamed_bytes);
        java.set_double("predictedMs", point.predicted_ms);
      });
    });
  });
}

VELLUM_JNI(jint, frontierKnee)(JNIEnv* env, jclass, jlong frontier, jdoubleArray java_milliseconds) {
  return guarded(env, [&] {
    const std::vector<double> milliseconds = to_doubles(env, java_milliseconds);
    vellum_error error;
    size_t index = 0;
    check(env,
          vellum_memory_frontier_knee(from_long<vellum_memory_frontier>(frontier),
                                      java_milliseconds ? milliseconds.data() : nullptr, &index, &error),
          error);
    return static_cast<jint>(index);
  });
}

VELLUM_JNI(jstring, frontierSvg)
(JNIEnv* env, jclass, jlong frontier, jstring title, jdoubleArray java_measured) {
  return guarded(env, [&] {
    const std::vector<double> measured = to_doubles(env, java_measured);
    vellum_error error;
    vellum_text* svg = nullptr;
    check(env,
          vellum_memory_frontier_svg(from_long<vellum_memory_frontier>(frontier), to_utf8(env, title).c_str(),
                                     java_measured ? measured.data() : nullptr, &svg, &error),
          error);
    return take_text(env, svg).release();
  });
}

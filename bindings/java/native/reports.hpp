// Memory reports of sessions and plans as Java's MemoryReport.
#pragma once

#include <functional>

#include "support.hpp"

namespace vellum::jni {

// read_object: fills in object i of report.object_count; may set `error`.
Local<jobject> report_to_java(JNIEnv* env, const vellum_memory_report& report,
                              const std::function<vellum_status(size_t, vellum_object_report*)>& read_object,
                              const vellum_error& error);

}  // namespace vellum::jni

// Options in Java to those of C.
#pragma once

#include <jni.h>

#include <optional>
#include <string>
#include <vector>

#include "support.hpp"
#include "vellum/vellum.h"

namespace vellum::jni {

// The C options, with the strings and shapes that they point to.
class SessionOptions {
 public:
  SessionOptions(JNIEnv* env, jobject options);
  SessionOptions(const SessionOptions&) = delete;
  SessionOptions& operator=(const SessionOptions&) = delete;

  const vellum_session_options* get() const { return &options_; }

 private:
  std::string strategy_;
  std::vector<std::string> names_, passes_;
  std::vector<std::vector<int64_t>> dims_;
  std::vector<vellum_input_shape> shapes_;
  std::vector<const char*> pass_pointers_;
  std::vector<std::string> value_names_;
  std::vector<std::vector<int64_t>> value_dims_;
  std::vector<vellum_shape_values> values_;
  void read_values(JNIEnv* env, const JavaObject& java);

  vellum_session_options options_;
};

// The C options, with the strings that they point to. Without the listener.
class DeviceOptions {
 public:
  DeviceOptions(JNIEnv* env, jobject options);
  DeviceOptions(const DeviceOptions&) = delete;
  DeviceOptions& operator=(const DeviceOptions&) = delete;

  vellum_device_options& get() { return options_; }

 private:
  std::string device_, folder_;
  vellum_device_options options_;
};

// Shapes by name, pointing into both.
std::vector<vellum_input_shape> input_shapes(JNIEnv* env, const std::vector<std::string>& names,
                                             const std::vector<std::vector<int64_t>>& dims);

// Empty for null: the defaults.
std::optional<vellum_load_limits> load_limits(JNIEnv* env, jobject limits);

}  // namespace vellum::jni

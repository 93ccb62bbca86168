// Conversion of Java's options to C's.
#pragma once

#include <jni.h>

#include <list>
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
  std::list<std::string> texts_;
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

// The C options, with the strings that they point to. The listener is not converted.
class DeviceOptions {
 public:
  DeviceOptions(JNIEnv* env, jobject options);
  DeviceOptions(const DeviceOptions&) = delete;
  DeviceOptions& operator=(const DeviceOptions&) = delete;

  vellum_device_options& get() { return options_; }

 private:
  std::list<std::string> texts_;
  vellum_device_options options_;
};

// Returns shapes by name. They point into `names` and `dims`.
std::vector<vellum_input_shape> input_shapes(JNIEnv* env, const std::vector<std::string>& names,
                                             const std::vector<std::vector<int64_t>>& dims);

class LoadLimits {
 public:
  // `limits` may be null: the defaults.
  LoadLimits(JNIEnv* env, jobject limits);
  LoadLimits(const LoadLimits&) = delete;
  LoadLimits& operator=(const LoadLimits&) = delete;
  const vellum_load_limits* get() const { return &limits_; }

 private:
  std::list<std::string> texts_;
  vellum_load_limits limits_;
};

// The C options. The listener is not converted.
class TuneOptions {
 public:
  explicit TuneOptions(const JavaObject& java);
  TuneOptions(const TuneOptions&) = delete;
  TuneOptions& operator=(const TuneOptions&) = delete;

  vellum_tune_options& get() { return options_; }

 private:
  std::list<std::string> texts_;
  vellum_tune_options options_;
};

}  // namespace vellum::jni

// Device caps: the limits, features and traits of a device as a value that can be stored in a file, so that
// the programs and plans of a phone can be made on a laptop.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "vellum/vellum.hpp"

namespace vellum {

class VELLUM_API Caps {
 public:
  // Returns the caps of an open device as the library uses them, limited by
  // DeviceOptions::android_baseline_2022 if that was set.
  static Caps of(const Device& device);
  // Returns the minimum that every device of the Android Baseline 2022 profile guarantees.
  static Caps android_baseline_2022();
  // Parses the output of json(). `source` is its name in messages. Throws Error(invalid_argument), which
  // names the invalid member.
  static Caps parse(std::string_view json, const std::string& source);

  // Returns the text of a caps file.
  std::string json() const;

  struct Impl;

 private:
  friend struct Handles;
  explicit Caps(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// Return a compilation stage as describe() and describe_json() of session.hpp do, for a device that is not
// present. Sizes in memory are modelled.
VELLUM_API std::string describe(const Model& model, std::string_view stage, const SessionOptions& options,
                                const Caps& caps);
VELLUM_API std::string describe_json(const Model& model, std::string_view stage,
                                     const SessionOptions& options, const Caps& caps);

}  // namespace vellum

// What a device can do, as a value that can be kept in a file: so that a phone's programs can be seen on a
// laptop.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "vellum/vellum.hpp"

namespace vellum {

class VELLUM_API Caps {
 public:
  // As the library believes them, so after the limits of DeviceOptions::android_baseline_2022.
  static Caps of(const Device& device);
  // The least that every device of the Android Baseline 2022 profile offers.
  static Caps android_baseline_2022();
  // What json() wrote. `source` stands for it in messages. Error(invalid_argument) names the member that is
  // wrong.
  static Caps parse(std::string_view json, const std::string& source);

  std::string json() const;

  struct Impl;
  const std::shared_ptr<const Impl>& impl() const { return impl_; }

 private:
  explicit Caps(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// describe() of vellum.hpp for a device that is not here; sizes in memory are modelled.
VELLUM_API std::string describe(const Model& model, std::string_view stage, const SessionOptions& options,
                                const Caps& caps);

}  // namespace vellum

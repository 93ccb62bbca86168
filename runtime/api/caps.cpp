#include "vellum/caps.hpp"

#include <utility>

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "api/target.hpp"
#include "caps_file/caps_json.hpp"
#include "compile/stage_json.hpp"

namespace vellum {

Caps Caps::of(const Device& device) {
  return guard([&] {
    DeviceCaps caps = impl(device)->context->caps();
    caps.process = impl(device)->calibration();
    return Caps(std::make_shared<const Impl>(Impl{std::move(caps)}));
  });
}

Caps Caps::android_baseline_2022() {
  return guard([] {
    Impl impl;  // the defaults are the profile
    impl.caps.name = "Android Baseline 2022";
    impl.caps.api_version = 1u << 22 | 1u << 12;
    return Caps(std::make_shared<const Impl>(impl));
  });
}

Caps Caps::parse(std::string_view json, const std::string& source) {
  return guard([&] { return Caps(std::make_shared<const Impl>(Impl{caps_from_json(json, source)})); });
}

std::string Caps::json() const {
  return guard([&] { return to_json(impl(*this)->caps); });
}

std::string describe(const Model& model, std::string_view stage, const SessionOptions& options,
                     const Caps& caps) {
  return guard([&] {
    const Stage last = stage_from_name(stage);
    return to_text(Target(caps).compile(model, options, last), last);
  });
}

std::string describe_json(const Model& model, std::string_view stage, const SessionOptions& options,
                          const Caps& caps) {
  return guard([&] {
    const Stage last = stage_from_name(stage);
    return to_json(Target(caps).compile(model, options, last), last);
  });
}

}  // namespace vellum

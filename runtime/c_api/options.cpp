// Options of devices and sessions, from C.
#include <cstddef>
#include <memory>
#include <string>

#include "c_api/option_members.hpp"
#include "c_api/support.hpp"

namespace {

using vellum::c_api::from_c;
using vellum::c_api::given_or_default;
using vellum::c_api::require;
using vellum::c_api::size_that_ends_at;
using vellum::c_api::to_c;
using vellum::c_api::write_defaults;

static_assert(static_cast<int>(vellum::LogLevel::error) == VELLUM_LOG_ERROR);

vellum_device_options device_defaults() noexcept {
  const vellum::DeviceOptions defaults;
  vellum_device_options options{};
  options.size = sizeof options;
#define VELLUM_OPTION(kind, name, member, what) to_c(defaults.member, options.name);
#include "vellum/device_options.def"
  return options;
}

vellum_session_options session_defaults() noexcept {
  const vellum::SessionOptions defaults;
  vellum_session_options options{};
  options.size = sizeof options;
#define VELLUM_OPTION(kind, name, member, what) to_c(defaults.member, options.name);
#include "vellum/session_options.def"
  return options;
}

vellum::DeviceOptions to_cpp(const vellum_device_options& c_options) {
  vellum::DeviceOptions options;
  const std::shared_ptr<void> log_user(c_options.log_user, [destroy = c_options.log_destroy](void* user) {
    if (destroy) destroy(user);
  });
#define VELLUM_OPTION(kind, name, member, what) from_c(c_options.name, options.member, #name);
#include "vellum/device_options.def"
  if (c_options.log)
    options.log = [log = c_options.log, log_user](vellum::LogLevel level, std::string_view message) {
      log(static_cast<vellum_log_level>(level), std::string(message).c_str(), log_user.get());
    };
  return options;
}

vellum::SessionOptions to_cpp(const vellum_session_options& c_options) {
  vellum::SessionOptions options;
#define VELLUM_OPTION(kind, name, member, what) from_c(c_options.name, options.member, #name);
#include "vellum/session_options.def"
  options.input_shapes = vellum::c_api::input_shapes(c_options.input_shapes, c_options.input_shape_count);
  options.input_values = vellum::c_api::shape_values(c_options.input_values, c_options.input_value_count);
  if (c_options.disabled_pass_count) require(c_options.disabled_passes, "disabled_passes");
  for (size_t i = 0; i < c_options.disabled_pass_count; ++i) {
    require(c_options.disabled_passes[i], "the name of a pass");
    options.debug.disabled_passes.emplace_back(c_options.disabled_passes[i]);
  }
  if (c_options.memory_pool) options.memory_pool = c_options.memory_pool->pool;
  return options;
}

}  // namespace

vellum::DeviceOptions vellum::c_api::device_options(const vellum_device_options* options) {
  return to_cpp(given_or_default(options, device_defaults()));
}

vellum::SessionOptions vellum::c_api::session_options(const vellum_session_options* options) {
  return to_cpp(given_or_default(options, session_defaults()));
}

void vellum_device_options_init_sized(vellum_device_options* options, size_t size) {
  write_defaults(options, size, device_defaults());
}

void(vellum_device_options_init)(vellum_device_options* options) {
  constexpr size_t end = offsetof(vellum_device_options, debug_labels) + sizeof(options->debug_labels);
  write_defaults(options, size_that_ends_at<vellum_device_options>(end), device_defaults());
}

void vellum_session_options_init_sized(vellum_session_options* options, size_t size) {
  write_defaults(options, size, session_defaults());
}

void(vellum_session_options_init)(vellum_session_options* options) {
  constexpr size_t end = offsetof(vellum_session_options, max_submit_ms) + sizeof(options->max_submit_ms);
  write_defaults(options, size_that_ends_at<vellum_session_options>(end), session_defaults());
}

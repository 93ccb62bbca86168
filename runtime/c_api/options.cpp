// Options of devices and sessions, from C.
#include <cstddef>
#include <memory>
#include <string>

#include "c_api/support.hpp"
#include "platform/utf8_path.hpp"

namespace {

using vellum::c_api::checked_choice;
using vellum::c_api::given_or_default;
using vellum::c_api::require;
using vellum::c_api::size_that_ends_at;
using vellum::c_api::write_defaults;
using vellum::platform::utf8_path;

static_assert(static_cast<int>(vellum::LogLevel::error) == VELLUM_LOG_ERROR);
static_assert(static_cast<int>(vellum::StorageChoice::buffer) == VELLUM_STORAGE_BUFFER);
static_assert(static_cast<int>(vellum::MemoryMode::naive) == VELLUM_MEMORY_NAIVE);
static_assert(static_cast<int>(vellum::MemoryMode::offsets) == VELLUM_MEMORY_OFFSETS);
static_assert(static_cast<int>(vellum::Arithmetic::automatic) == VELLUM_ARITHMETIC_AUTO);
static_assert(static_cast<int>(vellum::Winograd::f4) == VELLUM_WINOGRAD_F4);
static_assert(static_cast<int>(vellum::GlobalPriority::realtime) == VELLUM_PRIORITY_REALTIME);

vellum_device_options device_defaults() noexcept {
  vellum_device_options options{};
  options.size = sizeof options;
  options.wait_limit_ms = vellum::DeviceOptions().wait_limit_ms;
  options.queue_priority = vellum::DeviceOptions().queue_priority;
  return options;
}

vellum_session_options session_defaults() noexcept {
  vellum_session_options options{};
  options.size = sizeof options;
  options.cached_shapes = vellum::SessionOptions().cached_shapes;
  options.in_flight = vellum::SessionOptions().in_flight;
  options.search_ms = vellum::SessionOptions().planning.search_ms;
  options.in_place = vellum::SessionOptions().planning.in_place;
  options.views = vellum::SessionOptions().planning.views;
  options.reorder = vellum::SessionOptions().planning.reorder;
  options.tuned = vellum::SessionOptions().tuned;
  options.max_submit_ms = VELLUM_SUBMIT_MS_AUTO;
  return options;
}

vellum::DeviceOptions to_cpp(const vellum_device_options& c_options) {
  vellum::DeviceOptions options;
  const std::shared_ptr<void> log_user(c_options.log_user, [destroy = c_options.log_destroy](void* user) {
    if (destroy) destroy(user);
  });
  if (c_options.device) options.device = c_options.device;
  if (c_options.cache_folder) options.cache_folder = utf8_path(c_options.cache_folder);
  options.validation = c_options.validation != 0;
  options.android_baseline_2022 = c_options.android_baseline_2022 != 0;
  options.wait_limit_ms = c_options.wait_limit_ms;
  options.queue_priority = c_options.queue_priority;
  options.global_priority = checked_choice<vellum::GlobalPriority>(
      c_options.global_priority, VELLUM_PRIORITY_REALTIME, "global_priority");
  options.debug_labels = c_options.debug_labels != 0;
  options.self_check =
      checked_choice<vellum::SelfCheck>(c_options.self_check, VELLUM_SELF_CHECK_ON, "self_check");
  if (c_options.log)
    options.log = [log = c_options.log, log_user](vellum::LogLevel level, std::string_view message) {
      log(static_cast<vellum_log_level>(level), std::string(message).c_str(), log_user.get());
    };
  return options;
}

vellum::SessionOptions to_cpp(const vellum_session_options& c_options) {
  vellum::SessionOptions options;
  options.precision = checked_choice<vellum::Precision>(c_options.precision, VELLUM_FP16, "precision");
  options.storage =
      checked_choice<vellum::StorageChoice>(c_options.storage, VELLUM_STORAGE_BUFFER, "storage");
  options.memory = checked_choice<vellum::MemoryMode>(c_options.memory, VELLUM_MEMORY_OFFSETS, "memory");
  if (c_options.strategy) options.planning.strategy = c_options.strategy;
  options.input_shapes = vellum::c_api::input_shapes(c_options.input_shapes, c_options.input_shape_count);
  options.input_values = vellum::c_api::shape_values(c_options.input_values, c_options.input_value_count);
  options.cached_shapes = c_options.cached_shapes;
  options.tasks_per_submit = c_options.tasks_per_submit;
  options.profile = c_options.profile != 0;
  options.planning.search_ms = c_options.search_ms;
  options.planning.in_place = c_options.in_place != 0;
  options.planning.views = c_options.views != 0;
  options.planning.reorder = c_options.reorder != 0;
  options.weights_budget = c_options.weights_budget;
  options.winograd = checked_choice<vellum::Winograd>(c_options.winograd, VELLUM_WINOGRAD_F4, "winograd");
  options.arithmetic =
      checked_choice<vellum::Arithmetic>(c_options.arithmetic, VELLUM_ARITHMETIC_AUTO, "arithmetic");
  options.in_flight = c_options.in_flight;
  options.tuned = c_options.tuned != 0;
  options.check_finite = c_options.check_finite != 0;
  if (c_options.disabled_pass_count) require(c_options.disabled_passes, "disabled_passes");
  for (size_t i = 0; i < c_options.disabled_pass_count; ++i) {
    require(c_options.disabled_passes[i], "the name of a pass");
    options.debug.disabled_passes.emplace_back(c_options.disabled_passes[i]);
  }
  if (c_options.max_submit_ms != VELLUM_SUBMIT_MS_AUTO) options.max_submit_ms = c_options.max_submit_ms;
  if (c_options.memory_pool) options.memory_pool = c_options.memory_pool->pool;
  options.memory_budget = c_options.memory_budget;
  options.budget_allows_fp16 = c_options.budget_allows_fp16 != 0;
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

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

vellum::DeviceOptions to_cpp(const vellum_device_options& given) {
  vellum::DeviceOptions options;
  const std::shared_ptr<void> log_user(given.log_user, [destroy = given.log_destroy](void* user) {
    if (destroy) destroy(user);
  });
  if (given.device) options.device = given.device;
  if (given.cache_folder) options.cache_folder = utf8_path(given.cache_folder);
  options.validation = given.validation != 0;
  options.android_baseline_2022 = given.android_baseline_2022 != 0;
  options.wait_limit_ms = given.wait_limit_ms;
  options.queue_priority = given.queue_priority;
  options.global_priority = checked_choice<vellum::GlobalPriority>(
      given.global_priority, VELLUM_PRIORITY_REALTIME, "global_priority");
  options.debug_labels = given.debug_labels != 0;
  options.self_check =
      checked_choice<vellum::SelfCheck>(given.self_check, VELLUM_SELF_CHECK_ON, "self_check");
  if (given.log)
    options.log = [log = given.log, log_user](vellum::LogLevel level, std::string_view message) {
      log(static_cast<vellum_log_level>(level), std::string(message).c_str(), log_user.get());
    };
  return options;
}

vellum::SessionOptions to_cpp(const vellum_session_options& given) {
  vellum::SessionOptions options;
  options.precision = checked_choice<vellum::Precision>(given.precision, VELLUM_FP16, "precision");
  options.storage = checked_choice<vellum::StorageChoice>(given.storage, VELLUM_STORAGE_BUFFER, "storage");
  options.memory = checked_choice<vellum::MemoryMode>(given.memory, VELLUM_MEMORY_OFFSETS, "memory");
  if (given.strategy) options.planning.strategy = given.strategy;
  options.input_shapes = vellum::c_api::input_shapes(given.input_shapes, given.input_shape_count);
  options.input_values = vellum::c_api::shape_values(given.input_values, given.input_value_count);
  options.cached_shapes = given.cached_shapes;
  options.tasks_per_submit = given.tasks_per_submit;
  options.profile = given.profile != 0;
  options.planning.search_ms = given.search_ms;
  options.planning.in_place = given.in_place != 0;
  options.planning.views = given.views != 0;
  options.planning.reorder = given.reorder != 0;
  options.weights_budget = given.weights_budget;
  options.winograd = checked_choice<vellum::Winograd>(given.winograd, VELLUM_WINOGRAD_F4, "winograd");
  options.arithmetic =
      checked_choice<vellum::Arithmetic>(given.arithmetic, VELLUM_ARITHMETIC_AUTO, "arithmetic");
  options.in_flight = given.in_flight;
  options.tuned = given.tuned != 0;
  options.check_finite = given.check_finite != 0;
  if (given.disabled_pass_count) require(given.disabled_passes, "disabled_passes");
  for (size_t i = 0; i < given.disabled_pass_count; ++i) {
    require(given.disabled_passes[i], "the name of a pass");
    options.debug.disabled_passes.emplace_back(given.disabled_passes[i]);
  }
  if (given.max_submit_ms != VELLUM_SUBMIT_MS_AUTO) options.max_submit_ms = given.max_submit_ms;
  if (given.memory_pool) options.memory_pool = given.memory_pool->pool;
  options.memory_budget = given.memory_budget;
  options.budget_allows_fp16 = given.budget_allows_fp16 != 0;
  return options;
}

}  // namespace

vellum::DeviceOptions vellum::c_api::device_options(const vellum_device_options* given) {
  return to_cpp(given_or_default(given, device_defaults()));
}

vellum::SessionOptions vellum::c_api::session_options(const vellum_session_options* given) {
  return to_cpp(given_or_default(given, session_defaults()));
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

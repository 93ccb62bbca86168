// Tuning, for C.
#include "vellum/tune.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "c_api/option_members.hpp"
#include "c_api/support.hpp"

namespace {

vellum_tune_options tune_defaults() noexcept {
  const vellum::TuneOptions defaults;
  vellum_tune_options options{};
  options.size = sizeof options;
#define VELLUM_OPTION(kind, name, member, what) vellum::c_api::to_c(defaults.member, options.name);
#include "vellum/tune_options.def"
  return options;
}

vellum::TuneOptions to_cpp(const vellum_tune_options& c_options) {
  vellum::TuneOptions options;
#define VELLUM_OPTION(kind, name, member, what) vellum::c_api::from_c(c_options.name, options.member, #name);
#include "vellum/tune_options.def"
  if (c_options.progress || c_options.should_stop)
    options.progress = [c_options](const vellum::TuneProgress& progress) {
      if (c_options.progress)
        c_options.progress(progress.step.c_str(), progress.done, progress.total, c_options.progress_user);
      if (c_options.should_stop && c_options.should_stop(c_options.should_stop_user))
        throw vellum::Error(vellum::ErrorCode::cancelled, "tuning was stopped by should_stop");
    };
  return options;
}

// Static text for one of TuneReport::storage.
const char* storage_name(const std::string& storage) {
  for (const char* known : {"buffer", "image2d", "image3d"})
    if (storage == known) return known;
  return "mixed";
}

}  // namespace

void vellum_tune_options_init_sized(vellum_tune_options* options, size_t size) {
  vellum::c_api::write_defaults(options, size, tune_defaults());
}

void(vellum_tune_options_init)(vellum_tune_options* options) {
  constexpr size_t end = offsetof(vellum_tune_options, progress_user) + sizeof(options->progress_user);
  vellum::c_api::write_defaults(options, vellum::c_api::size_that_ends_at<vellum_tune_options>(end),
                                tune_defaults());
}

vellum_status vellum_tune(const vellum_device* device, const vellum_model* model,
                          const vellum_session_options* session_options, const vellum_tune_options* options,
                          vellum_tune_result* result, vellum_error* error) {
  using namespace vellum::c_api;
  return guarded(error, [&] {
    require(device, "device");
    require(model, "model");
    const vellum::TuneReport report =
        vellum::tune(device->device, model->model, vellum::c_api::session_options(session_options),
                     to_cpp(given_or_default(options, tune_defaults())));
    const auto measured = static_cast<size_t>(
        std::ranges::count_if(report.operators, [](const auto& one) { return one.measured; }));
    if (result)
      write_result(result,
                   {0, report.untuned_ms, report.tuned_ms, report.untuned_weights_bytes,
                    report.tuned_weights_bytes, report.seconds, report.complete, report.kept,
                    storage_name(report.storage), report.operators.size(), measured},
                   "result");
  });
}

vellum_status vellum_forget_tuning(const vellum_device* device, vellum_error* error) {
  return vellum::c_api::guarded(error, [&] {
    vellum::c_api::require(device, "device");
    vellum::forget_tuning(device->device);
  });
}

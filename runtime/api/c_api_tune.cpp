// The C interface of choosing by measurement.
#include "api/c_api_support.hpp"
#include "vellum/tune.hpp"

namespace {

vellum_tune_options tune_defaults() noexcept {
  vellum_tune_options options{};
  options.size = sizeof options;
  return options;
}

vellum::TuneOptions to_cpp(const vellum_tune_options& given) {
  vellum::TuneOptions options;
  options.seconds = given.seconds;
  options.again = given.again != 0;
  options.storages = given.storages != 0;
  if (given.progress)
    options.progress = [tell = given.progress, user = given.progress_user](const vellum::TuneProgress& done) {
      tell(done.step.c_str(), done.done, done.total, user);
    };
  return options;
}

}  // namespace

void vellum_tune_options_init(vellum_tune_options* options) {
  if (options) *options = tune_defaults();
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
    if (result)
      write_result(result,
                   {0, report.untuned_ms, report.tuned_ms, report.untuned_weights_bytes,
                    report.tuned_weights_bytes, report.seconds, report.complete, report.kept},
                   "result");
  });
}

vellum_status vellum_forget_tuning(const vellum_device* device, vellum_error* error) {
  return vellum::c_api::guarded(error, [&] {
    vellum::c_api::require(device, "device");
    vellum::forget_tuning(device->device);
  });
}

// The C interface of memory estimates.
#include "api/c_api_support.hpp"
#include "vellum/estimate.hpp"

namespace {

vellum::MemoryEstimate estimate_of(const vellum_model& model, const vellum::SessionOptions& options,
                                   const vellum_device* device, const char* caps) {
  if (device) return vellum::estimate_memory(model.model, options, device->device);
  if (!caps) return vellum::estimate_memory(model.model, options, vellum::Caps::android_baseline_2022());
  return vellum::estimate_memory(model.model, options, vellum::Caps::parse(caps, "the caps given"));
}

}  // namespace

vellum_status vellum_estimate_memory(const vellum_model* model, const vellum_session_options* options,
                                     const vellum_device* device, const char* caps,
                                     vellum_memory_estimate* estimate, vellum_error* error) {
  return vellum::c_api::guarded(error, [&] {
    vellum::c_api::require(model, "model");
    vellum::c_api::require(estimate, "estimate");
    const vellum::MemoryEstimate found =
        estimate_of(*model, vellum::c_api::session_options(options), device, caps);
    vellum::c_api::write_result(
        estimate,
        {0, found.use.weights, found.use.in_out, found.use.intermediates, found.use.workspace,
         found.use.staging, found.use.resident, found.use.total(), found.resident.driver.has_value(),
         found.vulkan.peak, found.shape_inference_bytes},
        "estimate");
  });
}

// Models and bundles, for C.
#include "api/c_api_support.hpp"
#include "vellum/pack.hpp"

using vellum::c_api::given_or_default;
using vellum::c_api::guarded;
using vellum::c_api::require;
using vellum::c_api::utf8_path;
using vellum::c_api::write_result;
using vellum::c_api::write_tensor_info;

namespace {

vellum_load_limits limit_defaults() noexcept {
  const vellum::LoadLimits limits;
  return {sizeof(vellum_load_limits), limits.nodes,       limits.elements,
          limits.folded_bytes,        limits.folded_work, limits.nesting};
}

vellum::LoadLimits to_cpp(const vellum_load_limits* given) {
  const vellum_load_limits limits = given_or_default(given, limit_defaults());
  return {limits.nodes, limits.elements, limits.folded_bytes, limits.folded_work, limits.nesting};
}

vellum::Caps caps_of(const vellum_device* device, const char* caps) {
  if (device) return vellum::Caps::of(device->device);
  return caps ? vellum::Caps::parse(caps, "the caps given") : vellum::Caps::android_baseline_2022();
}

}  // namespace

vellum_status vellum_model_load(const char* file, vellum_model** model, vellum_error* error) {
  return vellum_model_load_within(file, nullptr, model, error);
}

vellum_status vellum_model_load_bytes(const void* bytes, size_t byte_count, vellum_model** model,
                                      vellum_error* error) {
  return vellum_model_load_bytes_within(bytes, byte_count, nullptr, model, error);
}

void vellum_load_limits_init(vellum_load_limits* limits) {
  if (limits) *limits = limit_defaults();
}

vellum_status vellum_model_load_within(const char* file, const vellum_load_limits* limits,
                                       vellum_model** model, vellum_error* error) {
  if (model) *model = nullptr;
  return guarded(error, [&] {
    require(file, "file");
    require(model, "model");
    *model = new vellum_model{vellum::Model::load(utf8_path(file), to_cpp(limits))};
  });
}

vellum_status vellum_model_load_bytes_within(const void* bytes, size_t byte_count,
                                             const vellum_load_limits* limits, vellum_model** model,
                                             vellum_error* error) {
  if (model) *model = nullptr;
  return guarded(error, [&] {
    require(bytes, "bytes");
    require(model, "model");
    const std::span<const std::byte> given(static_cast<const std::byte*>(bytes), byte_count);
    *model = new vellum_model{vellum::Model::load(given, to_cpp(limits))};
  });
}

void vellum_model_destroy(vellum_model* model) { delete model; }

size_t vellum_model_input_count(const vellum_model* model) {
  return model ? model->model.inputs().size() : 0;
}

size_t vellum_model_output_count(const vellum_model* model) {
  return model ? model->model.outputs().size() : 0;
}

vellum_status vellum_model_input(const vellum_model* model, size_t index, vellum_tensor_info* info,
                                 vellum_error* error) {
  return guarded(error, [&] {
    require(model, "model");
    write_tensor_info(model->model.inputs(), index, "input", info);
  });
}

vellum_status vellum_model_output(const vellum_model* model, size_t index, vellum_tensor_info* info,
                                  vellum_error* error) {
  return guarded(error, [&] {
    require(model, "model");
    write_tensor_info(model->model.outputs(), index, "output", info);
  });
}

vellum_status vellum_write_bundle(const char* model, const char* file, const vellum_device* device,
                                  const char* caps, const vellum_session_options* options,
                                  vellum_bundle_summary* summary, vellum_error* error) {
  return guarded(error, [&] {
    require(model, "model");
    require(file, "file");
    const vellum::PackSummary made = vellum::pack(utf8_path(model), utf8_path(file), caps_of(device, caps),
                                                  vellum::c_api::session_options(options));
    if (summary)
      write_result(summary, {0, made.shaders, made.weights, made.weights_bytes, made.file_bytes}, "summary");
  });
}

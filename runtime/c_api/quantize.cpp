// Static quantisation, for C.
#include "vellum/quantize.hpp"

#include <string>
#include <utility>

#include "c_api/option_members.hpp"
#include "c_api/support.hpp"

using vellum::c_api::guarded;
using vellum::c_api::require;
using vellum::c_api::require_index;

struct vellum_quantized_model {
  vellum::QuantizedModel model;
};

namespace vellum::c_api {

template <>
inline constexpr int kLastChoice<QuantizeRanges> = last_choice(QuantizeRanges::mse, VELLUM_RANGES_MSE);

}  // namespace vellum::c_api

namespace {

vellum_quantize_options quantize_defaults() noexcept {
  const vellum::QuantizeOptions defaults;
  vellum_quantize_options options{};
  options.size = sizeof options;
#define VELLUM_OPTION(kind, name, member, what) vellum::c_api::to_c(defaults.member, options.name);
#include "vellum/quantize_options.def"
  return options;
}

vellum::QuantizeOptions quantize_options(const vellum_quantize_options& c_options) {
  vellum::QuantizeOptions options;
#define VELLUM_OPTION(kind, name, member, what) vellum::c_api::from_c(c_options.name, options.member, #name);
#include "vellum/quantize_options.def"
  options.input_shapes = vellum::c_api::input_shapes(c_options.input_shapes, c_options.input_shape_count);
  if (c_options.progress || c_options.should_stop)
    options.progress = [c_options](std::string_view stage, size_t done, size_t total) {
      if (c_options.progress)
        c_options.progress(std::string(stage).c_str(), done, total, c_options.progress_user);
      if (c_options.should_stop && c_options.should_stop(c_options.should_stop_user))
        throw vellum::Error(vellum::ErrorCode::cancelled, "quantisation was stopped by should_stop");
    };
  return options;
}

vellum::InputTensors inputs_of_example(vellum_quantize_example example, size_t index, void* user) {
  const vellum_shape_values* inputs = nullptr;
  size_t count = 0;
  if (example(index, &inputs, &count, user))
    throw vellum::Error(
        vellum::ErrorCode::cancelled,
        "quantisation was stopped by the function example at example " + std::to_string(index));
  if (count > 0) require(inputs, "the array of inputs that the function example sets");
  return vellum::c_api::shape_values(inputs, count);
}

}  // namespace

void vellum_quantize_options_init_sized(vellum_quantize_options* options, size_t size) {
  vellum::c_api::write_defaults(options, size, quantize_defaults());
}

vellum_status vellum_quantize(const vellum_device* device, const vellum_model* model, size_t examples,
                              vellum_quantize_example example, void* example_user,
                              const vellum_quantize_options* options, vellum_quantized_model** quantized,
                              vellum_error* error) {
  if (quantized) *quantized = nullptr;
  return guarded(error, [&] {
    require(device, "device");
    require(model, "model");
    require(quantized, "quantized");
    if (examples > 0 && !example) require(nullptr, "example");
    vellum::QuantizedModel made = vellum::quantize(
        device->device, model->model, examples,
        [&](size_t index) { return inputs_of_example(example, index, example_user); },
        quantize_options(vellum::c_api::given_or_default(options, quantize_defaults())));
    *quantized = new vellum_quantized_model{std::move(made)};
  });
}

void vellum_quantized_model_destroy(vellum_quantized_model* quantized) { delete quantized; }

const void* vellum_quantized_model_bytes(const vellum_quantized_model* quantized, size_t* byte_count) {
  if (byte_count) *byte_count = quantized ? quantized->model.onnx.size() : 0;
  return quantized ? quantized->model.onnx.data() : nullptr;
}

size_t vellum_quantized_model_layer_count(const vellum_quantized_model* quantized) {
  return quantized ? quantized->model.layers.size() : 0;
}

vellum_status vellum_quantized_model_layer(const vellum_quantized_model* quantized, size_t index,
                                           vellum_quantized_layer* layer, vellum_error* error) {
  return guarded(error, [&] {
    require(quantized, "quantized");
    require_index(index, quantized->model.layers.size(), "layer");
    const vellum::QuantizedLayer& from = quantized->model.layers[index];
    vellum::c_api::write_result(layer,
                                {0, from.name.c_str(), from.op.c_str(), from.in_integers, from.low, from.high,
                                 from.own_ratio, from.network_ratio},
                                "layer");
  });
}

size_t vellum_quantized_model_output_count(const vellum_quantized_model* quantized) {
  return quantized ? quantized->model.outputs.size() : 0;
}

vellum_status vellum_quantized_model_output(const vellum_quantized_model* quantized, size_t index,
                                            vellum_quantized_output* output, vellum_error* error) {
  return guarded(error, [&] {
    require(quantized, "quantized");
    require_index(index, quantized->model.outputs.size(), "output");
    const vellum::QuantizedOutput& from = quantized->model.outputs[index];
    vellum::c_api::write_result(output, {0, from.name.c_str(), from.ratio, from.error}, "output");
  });
}

vellum_status vellum_quantized_model_svg(const vellum_quantized_model* quantized, const char* title,
                                         vellum_text** text, vellum_error* error) {
  return vellum::c_api::make_text(text, error, [&] {
    require(quantized, "quantized");
    require(title, "title");
    return vellum::quantized_model_svg(title, quantized->model);
  });
}

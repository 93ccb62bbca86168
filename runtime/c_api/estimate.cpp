// Memory and stages of a session before it is made, for C.
#include "vellum/estimate.hpp"

#include <string>
#include <utility>
#include <vector>

#include "c_api/support.hpp"
#include "platform/utf8_path.hpp"
#include "vellum/memory_curve.hpp"

using vellum::c_api::for_target;
using vellum::c_api::guarded;
using vellum::c_api::make_text;
using vellum::c_api::require;
using vellum::c_api::session_options;
using vellum::c_api::write_result;
using vellum::platform::utf8_path;

namespace {

vellum::MemoryEstimate estimate_of(const vellum_model& model, const vellum::SessionOptions& options,
                                   const vellum_device* device, const char* caps) {
  if (device) return vellum::estimate_memory(model.model, options, device->device);
  return vellum::estimate_memory(model.model, options, vellum::c_api::caps_of(nullptr, caps));
}

vellum::MemoryLine to_cpp(const vellum_memory_line& c_line) {
  require(c_line.name, "the name of a line");
  if (c_line.point_count) {
    require(c_line.positions, "the positions of a line");
    require(c_line.bytes, "the bytes of a line");
  }
  vellum::MemoryLine line{c_line.name, {}};
  for (size_t i = 0; i < c_line.point_count; ++i)
    line.points.emplace_back(c_line.positions[i], c_line.bytes[i]);
  return line;
}

}  // namespace

vellum_status vellum_estimate_memory(const vellum_model* model, const vellum_session_options* options,
                                     const vellum_device* device, const char* caps,
                                     vellum_memory_estimate* estimate, vellum_error* error) {
  return guarded(error, [&] {
    require(model, "model");
    require(estimate, "estimate");
    const vellum::MemoryEstimate found = estimate_of(*model, session_options(options), device, caps);
    vellum_memory_estimate result{};
    result.weights = found.use.weights;
    result.in_out = found.use.in_out;
    result.intermediates = found.use.intermediates;
    result.workspace = found.use.workspace;
    result.staging = found.use.staging;
    result.resident = found.use.resident;
    result.total = found.use.total();
    result.driver_known = found.resident.driver.has_value();
    result.allocated_peak = found.vulkan.peak;
    result.shape_inference_total = found.shape_inference_bytes;
    result.padding = found.resident.padding;
    result.host = found.resident.host;
    result.driver_code = found.resident.driver.value_or(0);
    result.pipeline_code = found.resident.pipelines.value_or(0);
    result.allocated_weights = found.vulkan.weights;
    result.allocated_in_out = found.vulkan.in_out;
    result.allocated_intermediates = found.vulkan.intermediates;
    result.allocated_staging = found.vulkan.staging;
    result.dispatches = found.dispatches;
    result.pipelines = found.pipelines;
    result.state = found.use.state;
    result.allocated_state = found.vulkan.state;
    result.run_ms = found.run.ms;
    result.streamed_bytes = found.run.streamed_bytes;
    result.total_least = found.interval ? found.interval->least : result.total;
    result.total_most = found.interval ? found.interval->most : result.total;
    write_result(estimate, result, "estimate");
  });
}

vellum_status vellum_measure_memory(const char* model, const vellum_session_options* options,
                                    const vellum_device_options* device_options,
                                    vellum_memory_measurement* measurement, vellum_error* error) {
  return guarded(error, [&] {
    const vellum::MemoryMeter meter;
    require(model, "model");
    require(measurement, "measurement");
    const vellum::MemoryMeasurement found = meter.measure(utf8_path(model), session_options(options),
                                                          vellum::c_api::device_options(device_options));
    vellum_memory_measurement result{};
    result.weights = found.use.weights;
    result.in_out = found.use.in_out;
    result.intermediates = found.use.intermediates;
    result.workspace = found.use.workspace;
    result.staging = found.use.staging;
    result.resident = found.use.resident;
    result.total = found.use.total();
    result.allocated_peak = found.vulkan.peak;
    result.state = found.use.state;
    result.driver_included = found.driver_included;
    result.heap_known = found.driver_bytes.has_value();
    result.process_known = found.process_bytes.has_value();
    result.heap_bytes = found.driver_bytes.value_or(0);
    result.process_bytes = found.process_bytes.value_or(0);
    write_result(measurement, result, "measurement");
  });
}

vellum_status vellum_calibrate_memory(const vellum_device_options* device_options,
                                      vellum_memory_calibration* calibration, vellum_error* error) {
  return guarded(error, [&] {
    const vellum::MemoryMeter meter;
    const vellum::MemoryCalibration found = meter.calibrate(vellum::c_api::device_options(device_options));
    if (!calibration) return;
    vellum_memory_calibration result{};
    result.driver_bytes = found.driver_bytes;
    result.bytes_per_operation = found.bytes_per_operation;
    result.bytes_per_operation_of_largest = found.bytes_per_operation_of_largest;
    write_result(calibration, result, "calibration");
  });
}

vellum_status vellum_describe(const vellum_model* model, const char* stage,
                              const vellum_session_options* options, const vellum_device* device,
                              const char* caps, vellum_text** text, vellum_error* error) {
  return make_text(text, error, [&] {
    require(model, "model");
    require(stage, "stage");
    return for_target(device, caps, [&](const auto& target) {
      return vellum::describe(model->model, stage, session_options(options), target);
    });
  });
}

vellum_status vellum_memory_curve_svg(const char* title, const char* axis, const vellum_memory_line* lines,
                                      size_t line_count, vellum_text** svg, vellum_error* error) {
  return make_text(svg, error, [&] {
    require(title, "title");
    require(axis, "axis");
    if (line_count) require(lines, "lines");
    vellum::MemoryCurve curve{title, axis, {}};
    for (size_t i = 0; i < line_count; ++i) curve.lines.push_back(to_cpp(lines[i]));
    return vellum::memory_curve_svg(curve);
  });
}

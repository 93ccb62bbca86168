// Checks and reports of kernels, for C.
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "c_api/kernel_report.hpp"
#include "c_api/support.hpp"
#include "vellum/kernel_check.hpp"

using vellum::Error;
using vellum::ErrorCode;
using vellum::c_api::given_or_default;
using vellum::c_api::guarded;
using vellum::c_api::require;
using vellum::c_api::require_index;
using vellum::c_api::size_that_ends_at;
using vellum::c_api::write_defaults;
using vellum::c_api::write_result;

struct vellum_kernel_check_list {
  std::vector<vellum::KernelCheck> checks;
};

struct vellum_crash_list {
  std::vector<std::string> crashes;
};

vellum_kernel_report::vellum_kernel_report(vellum::KernelReport made) : report(std::move(made)) {
  for (const vellum::KernelPipeline& pipeline : report.pipelines) {
    std::vector<vellum_kernel_define>& names = defines.emplace_back();
    for (const auto& [name, value] : pipeline.defines) names.push_back({name.c_str(), value.c_str()});
    std::vector<Code>& codes = code.emplace_back();
    for (const vellum::KernelCode& from : pipeline.code) {
      Code& to = codes.emplace_back();
      for (const vellum::KernelStatistic& each : from.statistics)
        to.statistics.push_back({each.name.c_str(), each.description.c_str(), each.value});
      for (const vellum::KernelRepresentation& each : from.representations)
        to.representations.push_back({each.name.c_str(), each.description.c_str(), each.text.c_str()});
    }
  }
}

namespace {

vellum_kernel_check_options check_defaults() noexcept {
  vellum_kernel_check_options options{};
  options.size = sizeof options;
  options.repetitions = vellum::KernelCheckOptions{}.repetitions;
  return options;
}

vellum_kernel_report_options report_defaults() noexcept {
  vellum_kernel_report_options options{};
  options.size = sizeof options;
  return options;
}

vellum::KernelCheckOptions to_cpp(const vellum_kernel_check_options& c_options) {
  vellum::KernelCheckOptions options;
  if (c_options.only) options.only = c_options.only;
  options.all = c_options.all != 0;
  options.repetitions = c_options.repetitions;
  if (c_options.progress)
    options.progress = [c_options](size_t done, size_t total) {
      return c_options.progress(done, total, c_options.progress_user) == 0;
    };
  return options;
}

vellum::KernelReportOptions to_cpp(const vellum_kernel_report_options& c_options) {
  vellum::KernelReportOptions options;
  options.representations = c_options.representations != 0;
  if (c_options.rates) {
    const vellum_device_rates rates = given_or_default(c_options.rates, vellum_device_rates{});
    options.rates = {rates.gigamacs_per_s, rates.gigabytes_per_s, rates.units,     rates.lanes,
                     rates.latency_ns,     rates.launch_us,       rates.barrier_us};
  }
  return options;
}

void write_rates(const std::optional<vellum::DeviceRates>& from, vellum_device_rates* rates, int32_t* known) {
  require(rates, "rates");
  require(known, "known");
  if (from)
    write_result(rates,
                 {0, from->gigamacs_per_s, from->gigabytes_per_s, from->units, from->lanes, from->latency_ns,
                  from->launch_us, from->barrier_us},
                 "rates");
  *known = from.has_value();
}

}  // namespace

void vellum_kernel_check_options_init_sized(vellum_kernel_check_options* options, size_t size) {
  write_defaults(options, size, check_defaults());
}

void(vellum_kernel_check_options_init)(vellum_kernel_check_options* options) {
  constexpr size_t end =
      offsetof(vellum_kernel_check_options, progress_user) + sizeof(options->progress_user);
  write_defaults(options, size_that_ends_at<vellum_kernel_check_options>(end), check_defaults());
}

vellum_status vellum_check_kernels(const vellum_device* device, const vellum_kernel_check_options* options,
                                   vellum_kernel_check_list** list, vellum_error* error) {
  if (list) *list = nullptr;
  return guarded(error, [&] {
    require(device, "device");
    require(list, "list");
    const vellum::KernelCheckOptions check_options = to_cpp(given_or_default(options, check_defaults()));
    *list = new vellum_kernel_check_list{vellum::check_kernels(device->device, check_options)};
  });
}

vellum_status vellum_check_layers(const vellum_device* device, const vellum_model* model,
                                  const vellum_session_options* options,
                                  const vellum_kernel_check_options* check_options,
                                  vellum_kernel_check_list** list, vellum_error* error) {
  if (list) *list = nullptr;
  return guarded(error, [&] {
    require(device, "device");
    require(model, "model");
    require(list, "list");
    const vellum::KernelCheckOptions wanted = to_cpp(given_or_default(check_options, check_defaults()));
    *list = new vellum_kernel_check_list{
        vellum::check_layers(device->device, model->model, vellum::c_api::session_options(options), wanted)};
  });
}

vellum_status vellum_get_crashes(const vellum_device* device, vellum_crash_list** list, vellum_error* error) {
  if (list) *list = nullptr;
  return guarded(error, [&] {
    require(device, "device");
    require(list, "list");
    *list = new vellum_crash_list{vellum::crashes(device->device)};
  });
}

void vellum_crash_list_destroy(vellum_crash_list* list) { delete list; }

size_t vellum_crash_list_count(const vellum_crash_list* list) { return list ? list->crashes.size() : 0; }

const char* vellum_crash_list_get(const vellum_crash_list* list, size_t index) {
  return list && index < list->crashes.size() ? list->crashes[index].c_str() : nullptr;
}

vellum_status vellum_forget_crashes(const vellum_device* device, vellum_error* error) {
  return guarded(error, [&] {
    require(device, "device");
    vellum::forget_crashes(device->device);
  });
}

vellum_status vellum_discard_attempts(vellum_error* error) {
  return guarded(error, [] { vellum::discard_attempts(); });
}

void vellum_kernel_check_list_destroy(vellum_kernel_check_list* list) { delete list; }

size_t vellum_kernel_check_list_count(const vellum_kernel_check_list* list) {
  return list ? list->checks.size() : 0;
}

vellum_status vellum_kernel_check_list_get(const vellum_kernel_check_list* list, size_t index,
                                           vellum_kernel_check* check, vellum_error* error) {
  return guarded(error, [&] {
    require(list, "list");
    require_index(index, list->checks.size(), "check");
    const vellum::KernelCheck& from = list->checks[index];
    write_result(
        check,
        {0, from.operation.c_str(), from.kernel.c_str(), static_cast<vellum_precision>(from.precision),
         static_cast<vellum_arithmetic>(from.arithmetic), static_cast<vellum_storage>(from.storage),
         from.passed(), from.error, from.bound, from.failure.c_str()},
        "check");
  });
}

vellum_status vellum_device_known_rates(const vellum_device* device, vellum_device_rates* rates,
                                        int32_t* known, vellum_error* error) {
  return guarded(error, [&] {
    require(device, "device");
    write_rates(vellum::known_rates(device->info), rates, known);
  });
}

void vellum_kernel_report_options_init_sized(vellum_kernel_report_options* options, size_t size) {
  write_defaults(options, size, report_defaults());
}

void(vellum_kernel_report_options_init)(vellum_kernel_report_options* options) {
  constexpr size_t end =
      offsetof(vellum_kernel_report_options, representations) + sizeof(options->representations);
  write_defaults(options, size_that_ends_at<vellum_kernel_report_options>(end), report_defaults());
}

vellum_status vellum_kernel_report_create(const vellum_device* device, const vellum_model* model,
                                          const vellum_session_options* session_options,
                                          const vellum_kernel_report_options* options,
                                          vellum_kernel_report** report, vellum_error* error) {
  if (report) *report = nullptr;
  return guarded(error, [&] {
    require(device, "device");
    require(model, "model");
    require(report, "report");
    *report = new vellum_kernel_report(vellum::kernels(device->device, model->model,
                                                       vellum::c_api::session_options(session_options),
                                                       to_cpp(given_or_default(options, report_defaults()))));
  });
}

void vellum_kernel_report_destroy(vellum_kernel_report* report) { delete report; }

vellum_status vellum_kernel_report_rates(const vellum_kernel_report* report, vellum_device_rates* rates,
                                         int32_t* known, vellum_error* error) {
  return guarded(error, [&] {
    require(report, "report");
    write_rates(report->report.rates, rates, known);
  });
}

size_t vellum_kernel_report_pipeline_count(const vellum_kernel_report* report) {
  return report ? report->report.pipelines.size() : 0;
}

vellum_status vellum_kernel_report_pipeline(const vellum_kernel_report* report, size_t index,
                                            vellum_kernel_pipeline* pipeline, vellum_error* error) {
  return guarded(error, [&] {
    require(report, "report");
    require_index(index, report->report.pipelines.size(), "pipeline");
    const vellum::KernelPipeline& from = report->report.pipelines[index];
    const std::array<uint32_t, 3>& size = from.workgroup_size;
    write_result(pipeline,
                 {0,
                  from.shader.c_str(),
                  from.variant.c_str(),
                  report->defines[index].data(),
                  report->defines[index].size(),
                  {size[0], size[1], size[2]},
                  from.code.size()},
                 "pipeline");
  });
}

vellum_status vellum_kernel_report_code(const vellum_kernel_report* report, size_t pipeline, size_t index,
                                        vellum_kernel_code* code, vellum_error* error) {
  return guarded(error, [&] {
    require(report, "report");
    require_index(pipeline, report->report.pipelines.size(), "pipeline");
    require_index(index, report->code[pipeline].size(), "code");
    const vellum::KernelCode& from = report->report.pipelines[pipeline].code[index];
    const vellum_kernel_report::Code& lists = report->code[pipeline][index];
    write_result(
        code,
        {0, from.name.c_str(), from.subgroup_size, from.registers, from.spills, from.resident_subgroups,
         from.shared_memory_bytes, from.instructions, from.cycles, lists.statistics.data(),
         lists.statistics.size(), lists.representations.data(), lists.representations.size()},
        "code");
  });
}

size_t vellum_kernel_report_dispatch_count(const vellum_kernel_report* report) {
  return report ? report->report.dispatches.size() : 0;
}

vellum_status vellum_kernel_report_dispatch(const vellum_kernel_report* report, size_t index,
                                            vellum_kernel_dispatch* dispatch, vellum_error* error) {
  return guarded(error, [&] {
    require(report, "report");
    require_index(index, report->report.dispatches.size(), "dispatch");
    const vellum::KernelDispatch& from = report->report.dispatches[index];
    vellum_kernel_dispatch to{};
    to.name = from.name.c_str();
    to.op = from.op.c_str();
    to.pipeline = from.pipeline;
    std::ranges::copy(from.workgroups, to.workgroups);
    to.barrier = from.barrier;
    to.invocations = from.invocations;
    to.subgroups = from.subgroups;
    to.macs = from.macs;
    to.bytes = from.bytes;
    to.compute_us = from.compute_us;
    to.memory_us = from.memory_us;
    to.predicted_us = from.predicted_us;
    to.latency_us = from.latency_us;
    to.overhead_us = from.overhead_us;
    to.steps = from.steps;
    to.busy = from.busy;
    to.waves = from.waves;
    to.efficiency = from.efficiency;
    write_result(dispatch, to, "dispatch");
  });
}

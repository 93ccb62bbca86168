// Memory and time of a session, for C.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c_api/kernel_report.hpp"
#include "c_api/support.hpp"
#include "vellum/plan.hpp"
#include "vellum/report.hpp"

using vellum::Error;
using vellum::ErrorCode;
using vellum::c_api::for_target;
using vellum::c_api::given_or_default;
using vellum::c_api::guarded;
using vellum::c_api::make_text;
using vellum::c_api::require;
using vellum::c_api::require_index;
using vellum::c_api::write_result;

vellum_memory_plan::vellum_memory_plan(vellum::MemoryReport report) : memory(std::move(report)) {
  for (const vellum::ObjectReport& object : memory.objects) {
    std::vector<const char*>& names = object_tensors.emplace_back();
    for (const std::string& tensor : object.tensors) names.push_back(tensor.c_str());
  }
}

const vellum_memory_plan& vellum_session::plan() const {
  std::vector<vellum::Shape> shapes;
  for (const vellum::TensorInfo& input : session.inputs()) shapes.push_back(input.shape);
  vellum::MemoryReport now = session.memory();
  if (!plan_ || shapes != planned_shapes_) {
    plan_ = std::make_unique<vellum_memory_plan>(std::move(now));
    planned_shapes_ = std::move(shapes);
  } else {
    plan_->memory.allocated_bytes = now.allocated_bytes;
    plan_->memory.weights_bytes = now.weights_bytes;
    plan_->memory.peak_weights_bytes = now.peak_weights_bytes;
  }
  return *plan_;
}

namespace {

void write_report(const vellum::MemoryReport& memory, vellum_memory_report* report) {
  write_result(report,
               {0,
                memory.objects.size(),
                memory.naive_bytes,
                memory.planned_bytes,
                memory.lower_bound_bytes,
                memory.allocated_bytes,
                memory.weights_bytes,
                memory.in_out_bytes,
                memory.streamed_weights_bytes,
                memory.in_flight,
                memory.mode.c_str(),
                memory.strategy.c_str(),
                memory.tensors.size(),
                memory.arenas.data(),
                memory.arenas.size(),
                memory.peak_weights_bytes,
                memory.total_weights_bytes,
                memory.memory_budget,
                memory.budget_used_bytes,
                memory.budget_peak_bytes,
                memory.state_bytes},
               "report");
}

void write_object(const vellum_memory_plan& plan, size_t index, vellum_object_report* report) {
  require_index(index, plan.memory.objects.size(), "object");
  const vellum::ObjectReport& object = plan.memory.objects[index];
  write_result(report,
               {0,
                object.kind.c_str(),
                object.format.c_str(),
                {object.extent[0], object.extent[1], object.extent[2]},
                object.reuse_count,
                object.bytes,
                plan.object_tensors[index].data(),
                object.arena,
                object.arena_offset},
               "report");
}

vellum_profile_options profile_defaults() noexcept {
  vellum_profile_options options{};
  options.size = sizeof options;
  options.model = "model";
  return options;
}

vellum::ProfileReport profile_of(const vellum_session& session, const vellum_profile_options* c_options) {
  const vellum_profile_options options = given_or_default(c_options, profile_defaults());
  if (!session.profile)
    throw Error(ErrorCode::invalid_argument,
                "the session measures no times: it was made without vellum_session_options.profile");
  session.read_layers();
  if (session.layers.empty())
    throw Error(ErrorCode::invalid_argument, "there is nothing to show before the first run");
  vellum::ProfileReport report;
  if (options.model) report.model = options.model;
  if (options.subtitle_count) require(options.subtitle, "subtitle");
  for (size_t i = 0; i < options.subtitle_count; ++i) {
    require(options.subtitle[i], "a part of the subtitle");
    report.subtitle.emplace_back(options.subtitle[i]);
  }
  report.memory = session.plan().memory;
  report.layers = report.run = session.layers;
  if (options.layer_ms) {
    if (options.layer_ms_count != report.layers.size())
      throw Error(ErrorCode::invalid_argument, std::to_string(options.layer_ms_count) +
                                                   " times were given for " +
                                                   std::to_string(report.layers.size()) + " layers");
    for (size_t i = 0; i < report.layers.size(); ++i) report.layers[i].gpu_ms = options.layer_ms[i];
  }
  if (options.kernels) report.kernels = options.kernels->report;
  return report;
}

}  // namespace

vellum_status vellum_session_memory(const vellum_session* session, vellum_memory_report* report,
                                    vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    write_report(session->plan().memory, report);
  });
}

vellum_status vellum_session_object(const vellum_session* session, size_t index, vellum_object_report* report,
                                    vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    write_object(session->plan(), index, report);
  });
}

vellum_status vellum_memory_plan_of_session(const vellum_session* session, vellum_memory_plan** plan,
                                            vellum_error* error) {
  if (plan) *plan = nullptr;
  return guarded(error, [&] {
    require(session, "session");
    require(plan, "plan");
    *plan = new vellum_memory_plan(session->session.memory());
  });
}

vellum_status vellum_memory_plan_create(const vellum_model* model, const vellum_session_options* options,
                                        const vellum_device* device, const char* caps,
                                        vellum_memory_plan** plan, vellum_error* error) {
  if (plan) *plan = nullptr;
  return guarded(error, [&] {
    require(model, "model");
    require(plan, "plan");
    *plan = new vellum_memory_plan(for_target(device, caps, [&](const auto& target) {
      return vellum::planned_memory(model->model, vellum::c_api::session_options(options), target);
    }));
  });
}

void vellum_memory_plan_destroy(vellum_memory_plan* plan) { delete plan; }

vellum_status vellum_memory_plan_report(const vellum_memory_plan* plan, vellum_memory_report* report,
                                        vellum_error* error) {
  return guarded(error, [&] {
    require(plan, "plan");
    write_report(plan->memory, report);
  });
}

vellum_status vellum_memory_plan_object(const vellum_memory_plan* plan, size_t index,
                                        vellum_object_report* report, vellum_error* error) {
  return guarded(error, [&] {
    require(plan, "plan");
    write_object(*plan, index, report);
  });
}

vellum_status vellum_memory_plan_tensor(const vellum_memory_plan* plan, size_t index,
                                        vellum_tensor_report* report, vellum_error* error) {
  return guarded(error, [&] {
    require(plan, "plan");
    require_index(index, plan->memory.tensors.size(), "tensor");
    const vellum::TensorReport& tensor = plan->memory.tensors[index];
    write_result(report,
                 {0, tensor.name.c_str(), tensor.op.c_str(), tensor.role.c_str(), tensor.shape.data(),
                  tensor.shape.size(), tensor.object, tensor.offset, tensor.first_task, tensor.last_task,
                  tensor.bytes},
                 "report");
  });
}

vellum_status vellum_memory_plan_svg(const vellum_memory_plan* plan, const char* title, vellum_text** svg,
                                     vellum_error* error) {
  return make_text(svg, error, [&] {
    require(plan, "plan");
    require(title, "title");
    return vellum::memory_map_svg(plan->memory, title);
  });
}

size_t vellum_session_layer_count(const vellum_session* session) {
  if (!session) return 0;
  guarded(nullptr, [&] { session->read_layers(); });
  return session->layers.size();
}

vellum_status vellum_session_layer(const vellum_session* session, size_t index, vellum_layer_time* time,
                                   vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    require_index(index, session->layers.size(), "layer");
    const vellum::LayerTime& layer = session->layers[index];
    write_result(time,
                 {0,
                  layer.name.c_str(),
                  layer.op.c_str(),
                  layer.shader.c_str(),
                  layer.gpu_ms,
                  layer.begin_ms,
                  layer.storage.c_str(),
                  {layer.workgroups[0], layer.workgroups[1], layer.workgroups[2]}},
                 "time");
  });
}

void vellum_profile_options_init_sized(vellum_profile_options* options, size_t size) {
  vellum::c_api::write_defaults(options, size, profile_defaults());
}

void(vellum_profile_options_init)(vellum_profile_options* options) {
  constexpr size_t end = offsetof(vellum_profile_options, layer_ms_count) + sizeof(options->layer_ms_count);
  vellum::c_api::write_defaults(options, vellum::c_api::size_that_ends_at<vellum_profile_options>(end),
                                profile_defaults());
}

vellum_status vellum_session_profile_html(const vellum_session* session,
                                          const vellum_profile_options* options, vellum_text** html,
                                          vellum_error* error) {
  return make_text(html, error, [&] {
    require(session, "session");
    return vellum::profile_html(profile_of(*session, options));
  });
}

vellum_status vellum_session_profile_trace(const vellum_session* session,
                                           const vellum_profile_options* options, vellum_text** trace,
                                           vellum_error* error) {
  return make_text(trace, error, [&] {
    require(session, "session");
    return vellum::profile_trace(profile_of(*session, options));
  });
}

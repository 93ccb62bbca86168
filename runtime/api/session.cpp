#include <algorithm>

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "exec/executor.hpp"

namespace vellum {
namespace {

std::vector<TensorInfo> infos(const std::vector<Port>& ports) {
  std::vector<TensorInfo> result;
  for (const Port& port : ports) result.push_back({port.name, port.type.dtype, port.type.shape});
  return result;
}

std::string names(const std::vector<TensorInfo>& infos) {
  std::string list;
  for (const TensorInfo& info : infos) list += (list.empty() ? "'" : ", '") + info.name + "'";
  return list;
}

size_t position(const std::vector<TensorInfo>& infos, std::string_view name, const char* kind) {
  const auto found = std::find_if(infos.begin(), infos.end(), [&](const TensorInfo& info) { return info.name == name; });
  if (found == infos.end())
    throw Error(ErrorCode::not_found, "there is no " + std::string(kind) + " '" + std::string(name) +
                                          "'; the model has " + names(infos));
  return static_cast<size_t>(found - infos.begin());
}

ObjectReport object_report(const SharedObject& object, const Program& program, uint32_t id) {
  ObjectReport report;
  report.id = id;
  report.kind = name(object.kind);
  report.bytes = object.bytes;
  if (object.kind != Storage::buffer) {
    report.extent = {object.extent.width, object.extent.height, object.extent.depth};
    report.format = object.element == ElementType::f16 ? "rgba16f" : "rgba32f";
  }
  report.reuse_count = static_cast<uint32_t>(object.tensors.size());
  for (TensorId tensor : object.tensors) report.tensors.push_back(program.tensors[tensor].name);
  return report;
}

// Without its times.
LayerTime layer(const Program& program, const Task& task) {
  LayerTime time;
  time.name = task.dispatch ? task.dispatch->name : task.host->name;
  time.op = task.dispatch ? task.dispatch->op : task.host->op;
  if (!task.dispatch) return time;
  time.shader = task.dispatch->shader;
  time.workgroups = task.dispatch->workgroup_count;
  for (const Binding& binding : task.dispatch->bindings)
    if (binding.access != Access::read) {
      time.storage = name(program.tensors[binding.tensor].desc.storage);
      break;
    }
  return time;
}

std::vector<TensorReport> tensor_reports(const MemoryPlan& plan, const Program& program) {
  std::vector<TensorReport> reports;
  for (uint32_t object = 0; object < plan.objects.size(); ++object)
    for (TensorId id : plan.objects[object].tensors) {
      const VirtualTensor& tensor = program.tensors[id];
      const Lifetime& life = plan.lifetimes[id];
      TensorReport report;
      report.name = tensor.name;
      report.op = layer(program, program.tasks.at(static_cast<size_t>(life.first))).op;
      report.role = tensor.role == TensorRole::workspace ? "workspace" : "intermediate";
      report.shape = tensor.desc.shape;
      report.object = object;
      report.first_task = life.first;
      report.last_task = life.last;
      report.bytes = tensor.desc.byte_size();
      reports.push_back(std::move(report));
    }
  return reports;
}

}  // namespace

struct Session::Impl {
  Executor executor;
  std::vector<TensorInfo> inputs, outputs;
  std::vector<bool> input_set;

  Impl(const Device& device, const Model& model, const SessionOptions& options)
      : executor(device.impl()->context, make_program(model, device.impl()->context->caps(), options),
                 {.memory = options.memory,
                  .strategy = planner::object_strategy_from_name(options.strategy),
                  .tasks_per_submit = options.tasks_per_submit,
                  .timestamps = options.profile}),
        inputs(infos(executor.program().inputs)),
        outputs(infos(executor.program().outputs)),
        input_set(inputs.size(), false) {
    for (const std::string& warning : executor.program().warnings)
      device.impl()->context->log(LogLevel::warning, warning);
  }
};

Session::Session(const Device& device, const Model& model, const SessionOptions& options)
    : impl_(guard([&] { return std::make_unique<Impl>(device, model, options); })) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

const std::vector<TensorInfo>& Session::inputs() const { return impl_->inputs; }
const std::vector<TensorInfo>& Session::outputs() const { return impl_->outputs; }
const std::vector<std::string>& Session::warnings() const { return impl_->executor.program().warnings; }
size_t Session::dispatch_count() const { return impl_->executor.dispatch_count(); }
size_t Session::pipeline_count() const { return impl_->executor.pipeline_count(); }

void Session::set_input(std::string_view name, const Tensor& tensor) {
  guard([&] {
    const size_t index = position(impl_->inputs, name, "input");
    impl_->executor.set_input(index, tensor);
    impl_->input_set[index] = true;
  });
}

void Session::run() {
  guard([&] {
    for (size_t i = 0; i < impl_->inputs.size(); ++i)
      if (!impl_->input_set[i])
        throw Error(ErrorCode::invalid_argument, "input '" + impl_->inputs[i].name + "' was not set");
    impl_->executor.run();
  });
}

Tensor Session::output(std::string_view name) const {
  return guard([&] { return impl_->executor.output(position(impl_->outputs, name, "output")); });
}

std::map<std::string, Tensor> Session::run(const std::map<std::string, Tensor>& inputs) {
  for (const auto& [name, tensor] : inputs) set_input(name, tensor);
  run();
  std::map<std::string, Tensor> results;
  for (const TensorInfo& info : impl_->outputs) results[info.name] = output(info.name);
  return results;
}

MemoryReport Session::memory() const {
  return guard([&] {
    const MemoryPlan& plan = impl_->executor.plan();
    MemoryReport report;
    report.strategy = plan.strategy;
    for (const SharedObject& object : plan.objects)
      report.objects.push_back(
          object_report(object, impl_->executor.program(), static_cast<uint32_t>(report.objects.size())));
    report.tensors = tensor_reports(plan, impl_->executor.program());
    report.naive_bytes = plan.naive_bytes;
    report.planned_bytes = plan.planned_bytes;
    report.lower_bound_bytes = plan.lower_bound_bytes;
    report.allocated_bytes = impl_->executor.allocated().intermediates;
    report.weights_bytes = impl_->executor.allocated().weights;
    report.peak_weights_bytes = report.weights_bytes;  // all weights stay for as long as the session lives
    report.in_out_bytes = impl_->executor.allocated().in_out;
    return report;
  });
}

std::vector<LayerTime> Session::layer_times() const {
  return guard([&] {
    std::vector<LayerTime> times;
    const std::vector<Executor::TaskSpan> spans = impl_->executor.task_spans();
    const Program& program = impl_->executor.program();
    for (size_t i = 0; i < program.tasks.size(); ++i) {
      times.push_back(layer(program, program.tasks[i]));
      times.back().gpu_ms = spans[i].end_ms - spans[i].begin_ms;
      times.back().begin_ms = spans[i].begin_ms;
    }
    return times;
  });
}

}  // namespace vellum

#include "api/memory_report.hpp"

#include <limits>

namespace vellum {
namespace {

ObjectReport object_report(const SharedObject& object, const Program& program, uint32_t id) {
  ObjectReport report;
  report.id = id;
  report.kind = name(object.kind);
  report.bytes = object.need.bytes;
  report.arena = object.place.arena;
  report.arena_offset = object.place.offset;
  if (object.kind != Storage::buffer) {
    report.extent = {object.extent.width, object.extent.height, object.extent.depth};
    report.format = texel_format_name(object.element);
  }
  report.reuse_count = static_cast<uint32_t>(object.tensors.size());
  for (TensorId tensor : object.tensors) report.tensors.push_back(program.tensors[tensor].name);
  return report;
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

LayerTime layer(const Program& program, const Task& task) {
  LayerTime time;
  time.name = node_name(task);
  time.op = operator_type(task);
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

LayerTime host_layer(const Node& node) {
  LayerTime time;
  time.name = node.name;
  time.op = node.op->type();
  time.gpu_ms = time.begin_ms = std::numeric_limits<double>::quiet_NaN();
  return time;
}

MemoryReport memory_report(const CompiledModel& model) {
  const MemoryPlan& plan = model.plan;
  MemoryReport report;
  report.mode = name(plan.mode);
  report.strategy = plan.strategy;
  for (const PlannedArena& arena : plan.arenas) report.arenas.push_back(arena.bytes);
  for (const SharedObject& object : plan.objects)
    report.objects.push_back(
        object_report(object, model.program, static_cast<uint32_t>(report.objects.size())));
  report.tensors = tensor_reports(plan, model.program);
  report.naive_bytes = plan.naive_bytes;
  report.planned_bytes = report.allocated_bytes = plan.planned_bytes;
  report.lower_bound_bytes = plan.lower_bound_bytes;
  return report;
}

}  // namespace vellum

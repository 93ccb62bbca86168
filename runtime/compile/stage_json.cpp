#include "compile/stage_json.hpp"

#include <utility>

#include "compile/float_boundaries.hpp"
#include "platform/json_value.hpp"

namespace vellum {
namespace {

using platform::JsonValue;
using Array = JsonValue::Array;
using Object = JsonValue::Object;

JsonValue text(std::string_view words) { return std::string(words); }

// Returns a shape as a JSON array; an open dimension is null.
JsonValue shape_json(const Shape& shape) {
  Array dims;
  for (const int64_t dim : shape)
    dims.push_back(dim < 0 ? JsonValue() : JsonValue(static_cast<uint64_t>(dim)));
  return dims;
}

JsonValue numbers(const std::array<uint32_t, 3>& three) { return Array{three[0], three[1], three[2]}; }

JsonValue value_json(const Graph& graph, ValueId id) {
  if (id == kNoValue) return {};
  const Value& value = graph.values[id];
  return Object{
      {"name", value.name}, {"dtype", text(name(value.type.dtype))}, {"shape", shape_json(value.type.shape)}};
}

JsonValue values_json(const Graph& graph, const std::vector<ValueId>& ids) {
  Array values;
  for (const ValueId id : ids) values.push_back(value_json(graph, id));
  return values;
}

JsonValue node_json(const Graph& graph, const Node& node) {
  return Object{{"name", node.name},
                {"op", text(node.op->type())},
                {"attributes", to_string(node.op->attributes())},
                {"inputs", values_json(graph, node.inputs)},
                {"outputs", values_json(graph, node.outputs)}};
}

Object graph_json(const Graph& graph) {
  Array nodes;
  for (const Node& node : graph.nodes) nodes.push_back(node_json(graph, node));
  Object object{{"inputs", values_json(graph, graph.inputs)},
                {"nodes", std::move(nodes)},
                {"outputs", values_json(graph, graph.outputs)}};
  if (graph.tail) object.emplace_back("then_on_the_host", graph_json(graph.tail->graph));
  return object;
}

// Returns the graph with the tensors at which a quantised network goes on in floats, if there are any.
Object graph_with_boundaries(const Graph& graph) {
  Object object = graph_json(graph);
  Array boundaries;
  for (const FloatBoundary& boundary : float_boundaries(graph))
    boundaries.push_back(Object{{"tensor", graph.values[boundary.value].name},
                                {"op", text(graph.nodes[boundary.node].op->type())},
                                {"node", graph.nodes[boundary.node].name},
                                {"reason", boundary.reason}});
  if (!boundaries.empty()) object.emplace_back("floats_among_integers", std::move(boundaries));
  return object;
}

JsonValue binding_json(const Program& program, const Binding& binding) {
  const VirtualTensor& tensor = program.tensors[binding.tensor];
  const char* access = binding.access == Access::read    ? "read"
                       : binding.access == Access::write ? "write"
                                                         : "read_write";
  return Object{{"tensor", tensor.name},
                {"access", access},
                {"shape", shape_json(tensor.desc.shape)},
                {"storage", text(name(tensor.desc.storage))},
                {"element", text(name(tensor.desc.element))},
                {"layout", text(name(tensor.desc.layout))},
                {"folded", tensor.desc.fold > 0}};
}

JsonValue task_json(const Program& program, const Task& task) {
  if (task.host) {
    Array nodes;
    for (const Node& node : task.host->graph->nodes) nodes.push_back(node_json(*task.host->graph, node));
    return Object{{"host", std::move(nodes)}};
  }
  const Dispatch& dispatch = *task.dispatch;
  Object macros;
  for (const auto& [macro, value] : dispatch.defines)
    if (!is_tensor_macro(macro)) macros.emplace_back(macro, value);
  Array bindings;
  for (const Binding& binding : dispatch.bindings) bindings.push_back(binding_json(program, binding));
  return Object{{"name", dispatch.name},
                {"op", dispatch.op},
                {"shader", dispatch.shader},
                {"macros", std::move(macros)},
                {"workgroups", numbers(dispatch.workgroup_count)},
                {"workgroup_size", numbers(dispatch.workgroup_size)},
                {"bindings", std::move(bindings)}};
}

JsonValue ports_json(const std::vector<Port>& ports) {
  Array list;
  for (const Port& port : ports)
    list.push_back(Object{{"name", port.name}, {"shape", shape_json(port.type.shape)}});
  return list;
}

Object program_json(const Program& program) {
  Array tasks, warnings;
  for (const Task& task : program.tasks) tasks.push_back(task_json(program, task));
  for (const std::string& warning : program.warnings) warnings.emplace_back(warning);
  return {{"inputs", ports_json(program.inputs)},
          {"tasks", std::move(tasks)},
          {"outputs", ports_json(program.outputs)},
          {"warnings", std::move(warnings)}};
}

JsonValue object_json(const MemoryPlan& plan, const Program& program, const SharedObject& object) {
  Array tensors;
  for (const TensorId id : object.tensors)
    tensors.push_back(Object{{"name", program.tensors[id].name},
                             {"first_task", static_cast<uint64_t>(plan.lifetimes[id].first)},
                             {"last_task", static_cast<uint64_t>(plan.lifetimes[id].last)}});
  Object json{{"kind", text(name(object.kind))}};
  if (object.kind != Storage::buffer) {
    json.emplace_back("format", object.element == ElementType::f16 ? "rgba16f" : "rgba32f");
    json.emplace_back("extent", Array{object.extent.width, object.extent.height, object.extent.depth});
  }
  json.emplace_back("bytes", uint64_t{object.need.bytes});
  json.emplace_back("arena", static_cast<uint64_t>(object.place.arena));
  json.emplace_back("offset", uint64_t{object.place.offset});
  json.emplace_back("tensors", std::move(tensors));
  return json;
}

Object plan_json(const MemoryPlan& plan, const Program& program) {
  Array objects;
  for (const SharedObject& object : plan.objects) objects.push_back(object_json(plan, program, object));
  return {{"mode", text(name(plan.mode))},       {"strategy", plan.strategy},
          {"objects", std::move(objects)},       {"naive_bytes", plan.naive_bytes},
          {"planned_bytes", plan.planned_bytes}, {"lower_bound_bytes", plan.lower_bound_bytes}};
}

Object barriers_json(const std::vector<TaskSync>& barriers, const Program& program) {
  Array list;
  for (size_t t = 0; t < barriers.size(); ++t) {
    if (!barriers[t].needs_command()) continue;
    Array discarded;
    for (const uint32_t object : barriers[t].discarded_objects) discarded.emplace_back(object);
    list.push_back(Object{{"before_task", uint64_t{t}},
                          {"name", node_name(program.tasks[t])},
                          {"waits", barriers[t].barrier},
                          {"discards_objects", std::move(discarded)}});
  }
  return {{"barriers", std::move(list)}, {"tasks", uint64_t{barriers.size()}}};
}

Object stage_json(const CompiledModel& model, Stage stage) {
  switch (stage) {
    case Stage::graph:
      return graph_with_boundaries(model.graph);
    case Stage::program:
      return program_json(model.program);
    case Stage::plan:
      return plan_json(model.plan, model.program);
    case Stage::barriers:
      return barriers_json(model.barriers, model.program);
  }
  return {};
}

}  // namespace

std::string to_json(const CompiledModel& model, Stage stage) {
  Object object{{"stage", text(name(stage))}};
  for (auto& member : stage_json(model, stage)) object.push_back(std::move(member));
  return JsonValue(std::move(object)).text(1);
}

}  // namespace vellum

// ProgramBuilder's functions for the end of a program: outputs that the host reads, and the host tail.
#include <algorithm>

#include "graph/layers.hpp"
#include "graph/operators/control/branch.hpp"
#include "graph/operators/control/device_region.hpp"
#include "graph/operators/control/loop.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/program_builder.hpp"
#include "shaders/movement/copy_linear.h"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// Returns what of the tail's first node is known only in a run.
std::string_view unknown_before(const Node& node) {
  if (dynamic_cast<const If*>(node.op.get())) return "its condition";
  if (dynamic_cast<const LoopOperator*>(node.op.get())) return "how often it repeats its body";
  return "the shape of its output";
}

void refuse_layers(const Graph& tail) {
  for (const Node& node : tail.nodes)
    if (is_layer(tail, node))
      throw Error(ErrorCode::unsupported,
                  describe(node) + " follows " + describe(tail.nodes.front()) + ": " +
                      std::string(unknown_before(tail.nodes.front())) +
                      " is known only in a run; it and what follows it run on the host, "
                      "where this would be far too slow; cut the model in two after " +
                      describe(tail.nodes.front()) + " and run the second part as a model of its own");
}

}  // namespace

void ProgramBuilder::add_outputs() {
  if (graph_.tail) return add_outputs_and_tail(*graph_.tail);
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    const auto state = std::ranges::find(program_.states, i, &StateTensor::output);
    if (state == program_.states.end()) {
      program_.outputs.push_back(output_port(graph_.outputs[i]));
      continue;
    }
    const Value& value = graph_.values[graph_.outputs[i]];
    Port port{value.name, value.type, state->tensor, std::nullopt};
    port.is_state = true;
    program_.outputs.push_back(std::move(port));
  }
  store_states();
}

Port ProgramBuilder::output_port(ValueId id) {
  const Value& value = graph_.values[id];
  if (value.constant) return {value.name, value.type, kNoTensor, value.constant};
  return {value.name, value.type, output_tensor(id), std::nullopt};
}

void ProgramBuilder::add_outputs_and_tail(const HostTail& tail) {
  refuse_layers(tail.graph);
  std::vector<std::optional<Port>> ports(graph_.outputs.size());
  const auto port = [&](size_t index) -> const Port& {
    if (!ports[index]) ports[index] = output_port(graph_.outputs[index]);
    return *ports[index];
  };
  for (const auto& [of_tail, index] : tail.outputs) {
    if (!of_tail) {
      program_.outputs.push_back(port(index));
      continue;
    }
    const Value& value = tail.graph.values[tail.graph.outputs[index]];
    program_.outputs.push_back({value.name, value.type, kNoTensor, std::nullopt, index});
  }
  std::vector<Port> inputs;
  for (const size_t index : tail.reads) {
    // The host reads an input of the program in place.
    const Value& value = graph_.values[graph_.outputs[index]];
    const TensorId linear = value_tensors_[graph_.outputs[index]].linear;
    const bool is_input = !ports[index] && linear != kNoTensor &&
                          program_.tensors[linear].role == TensorRole::input &&
                          program_.root(linear) == linear;
    inputs.push_back(is_input ? Port{value.name, value.type, linear, std::nullopt} : port(index));
  }
  add_tail_partition(tail, std::move(inputs));
}

void ProgramBuilder::add_tail_partition(const HostTail& tail, std::vector<Port> inputs) {
  HostPartition partition;
  partition.graph = std::shared_ptr<const Graph>(graph_.tail, &tail.graph);
  partition.inputs = std::move(inputs);
  partition.has_run_time_shapes = true;
  program_.tasks.push_back({std::nullopt, std::move(partition)});
  const auto& nodes = tail.graph.nodes;
  const auto own_regions = static_cast<size_t>(std::ranges::count_if(
      nodes, [](const Node& node) { return dynamic_cast<const DeviceRegion*>(node.op.get()) != nullptr; }));
  const size_t others = nodes.size() - 1 - own_regions, regions = count_regions(tail.graph);
  const std::string of_regions = std::string(regions == 1 ? "a group" : std::to_string(regions) + " groups") +
                                 " of layers among them " + (regions == 1 ? "runs" : "run");
  program_.warnings.push_back(
      describe(tail.graph.nodes.front()) +
      (others == 0   ? " runs"
       : others == 1 ? " and the operator after it run"
                     : " and " + std::to_string(others) + " operators after it run") +
      " on the host: " + std::string(unknown_before(nodes.front())) + " is known only then" +
      (regions == 0              ? ""
       : options_.device_regions ? "; " + of_regions + " on the device"
                                 : "; with a budget " + of_regions + " on the host, too"));
}

// Returns the linear tensor that the host reads as the output `value`. An existing tensor with this value
// becomes the output, if its element type is the host's and no other port uses it. Otherwise it is copied.
TensorId ProgramBuilder::output_tensor(ValueId value) {
  TensorId linear = value_tensors_[value].linear;
  if (linear == kNoTensor) linear = convert(value_tensors_[value].channels4, value, Layout::linear);
  VirtualTensor& root = program_.tensors[program_.root(linear)];
  if (root.role == TensorRole::output && program_.root(linear) == linear) return linear;
  const bool is_narrow = root.desc.element == ElementType::f16 || root.desc.element == ElementType::q8;
  if (root.role == TensorRole::intermediate && !is_narrow) {
    root.role = TensorRole::output;
    return linear;
  }
  return copy_to_output(linear, value);
}

TensorId ProgramBuilder::copy_to_output(TensorId from, ValueId value) {
  const TensorId to = add_tensor(
      {graph_.values[value].name, describe_value(value, Layout::linear), TensorRole::output, kNoTensor, {}});
  return copy_to(to, from);
}

TensorId ProgramBuilder::read_for_host(ValueId value) {
  const TensorId linear = read(value, Layout::linear);
  TensorDesc desc = program_.tensors[linear].desc;
  if (desc.element != ElementType::q8) return linear;
  desc.element = ElementType::f32;
  desc.grid = {};
  return copy_to(add_tensor({graph_.values[value].name, desc, TensorRole::intermediate, kNoTensor, {}}),
                 linear);
}

TensorId ProgramBuilder::write_for_host(ValueId value) {
  if (value < grids_.size()) grids_[value].reset();
  return write(value, Layout::linear);
}

TensorId ProgramBuilder::copy_to(TensorId to, TensorId from) {
  const int64_t count4 = groups_of_four(program_.tensors[to].desc.shape);
  add_dispatch(make_dispatch("copy_linear", grid_1d(caps_, count4), {reads("x", from), writes("y", to)},
                             CopyLinearParameters{.count4 = count4}),
               nullptr);
  return to;
}

}  // namespace vellum

#include "graph/operators/fused/fused_nodes.hpp"

#include <algorithm>
#include <array>

#include "vellum/error.hpp"

namespace vellum {
namespace {

struct FusedKernelNames {
  std::string_view id, type;
};

constexpr FusedKernelNames kFusedKernelNames[] = {
#define VELLUM_FUSED_KERNEL(id, type, rank, falls_back, match, lower) {#id, #type},
#include "graph/operators/fused/fused_kernels.def"
#undef VELLUM_FUSED_KERNEL
};

std::vector<OperatorInput> node_inputs(const Node& node, const std::vector<OperatorInput>& values) {
  std::vector<OperatorInput> inputs;
  for (const ValueId id : node.inputs) inputs.push_back(id == kNoValue ? OperatorInput{} : values[id]);
  return inputs;
}

void check_count(const FusedNodes& op, size_t inputs) {
  if (inputs > op.body.inputs.size())
    throw Error(ErrorCode::internal, std::string(op.type()) + " has " + std::to_string(inputs) +
                                         " inputs, its nodes read " + std::to_string(op.body.inputs.size()));
}

}  // namespace

std::string_view name(FusedKernelId id) { return kFusedKernelNames[static_cast<size_t>(id)].id; }

std::optional<FusedKernelId> fused_kernel_from_name(std::string_view name) {
  const auto* const found = std::ranges::find(kFusedKernelNames, name, &FusedKernelNames::id);
  if (found == std::end(kFusedKernelNames)) return std::nullopt;
  return static_cast<FusedKernelId>(found - std::begin(kFusedKernelNames));
}

const FusedNodes* as_fused(const Node& node, FusedKernelId kernel) {
  const auto* const op = dynamic_cast<const FusedNodes*>(node.op.get());
  return op && op->kernel == kernel ? op : nullptr;
}

std::vector<ValueId> FusedNodes::add_inputs(size_t count) {
  std::vector<ValueId> added;
  for (size_t i = 0; i < count; ++i) {
    added.push_back(body.add_value("input" + std::to_string(body.inputs.size())));
    body.inputs.push_back(added.back());
  }
  return added;
}

ValueId FusedNodes::add_node(std::string name, std::shared_ptr<const Operator> op,
                             std::vector<ValueId> inputs) {
  const ValueId output = body.add_value(name);
  body.nodes.push_back({std::move(name), std::move(op), std::move(inputs), {output}});
  return output;
}

std::vector<OperatorInput> FusedNodes::values(Inputs inputs) const {
  check_count(*this, inputs.size());
  std::vector<OperatorInput> values(body.values.size());
  for (size_t i = 0; i < inputs.size(); ++i) values[body.inputs[i]] = inputs[i];
  for (const Node& node : body.nodes) {
    std::vector<TensorType> types = node.op->infer(node_inputs(node, values));
    for (size_t i = 0; i < node.outputs.size(); ++i) values[node.outputs[i]] = {true, types.at(i), nullptr};
  }
  return values;
}

std::vector<OperatorInput> FusedNodes::inputs_of(size_t node, Inputs inputs) const {
  return node_inputs(body.nodes.at(node), values(inputs));
}

TensorType FusedNodes::output_of(size_t node, Inputs inputs) const {
  return values(inputs)[body.nodes.at(node).outputs[0]].type;
}

uint64_t FusedNodes::macs_of(size_t node, Inputs inputs) const {
  return body.nodes.at(node).op->macs(inputs_of(node, inputs));
}

std::string_view FusedNodes::type() const { return kFusedKernelNames[static_cast<size_t>(kernel)].type; }

std::vector<TensorType> FusedNodes::infer(Inputs inputs) const {
  const std::vector<OperatorInput> all = values(inputs);
  std::vector<TensorType> types;
  for (const ValueId id : body.outputs) types.push_back(all[id].type);
  return types;
}

std::vector<HostTensor> FusedNodes::evaluate(HostInputs inputs) const {
  infer_known(*this, inputs);
  std::vector<const HostTensor*> known(body.values.size());
  std::vector<HostTensor> computed(body.values.size());
  for (size_t i = 0; i < inputs.size(); ++i) known[body.inputs[i]] = inputs[i];
  for (const Node& node : body.nodes) {
    std::vector<const HostTensor*> arguments;
    for (const ValueId id : node.inputs) arguments.push_back(id == kNoValue ? nullptr : known[id]);
    std::vector<HostTensor> results = vellum::evaluate(node, arguments);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      computed[node.outputs[i]] = std::move(results[i]);
      known[node.outputs[i]] = &computed[node.outputs[i]];
    }
  }
  std::vector<HostTensor> outputs;
  for (const ValueId id : body.outputs) outputs.push_back(*known[id]);
  return outputs;
}

uint64_t FusedNodes::macs(Inputs inputs) const {
  const std::vector<OperatorInput> all = values(inputs);
  uint64_t sum = 0;
  for (const Node& node : body.nodes) sum += node.op->macs(node_inputs(node, all));
  return sum;
}

Attributes FusedNodes::attributes() const {
  Attributes result;
  std::string nodes;
  for (const Node& node : body.nodes) {
    nodes += (nodes.empty() ? "" : ", ") + std::string(node.op->type()) + " " + node.name;
    const Attributes own = node.op->attributes();
    for (const auto& [key, value] : own.values()) result.set(node.name + "_" + key, value);
  }
  result.set("nodes", nodes);
  return result;
}

}  // namespace vellum

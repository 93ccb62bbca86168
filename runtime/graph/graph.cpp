#include "graph/graph.hpp"

#include <algorithm>
#include <new>
#include <sstream>

#include "graph/operator_support.hpp"
#include "graph/operators/control/subgraphs.hpp"
#include "graph/same_types.hpp"
#include "vellum/error.hpp"

namespace vellum {

ValueId Graph::add_value(std::string value_name, TensorType type, bool type_known) {
  values.push_back({std::move(value_name), std::move(type), type_known, std::nullopt});
  return static_cast<ValueId>(values.size() - 1);
}

ValueId Graph::add_constant(std::string value_name, HostTensor tensor) {
  const ValueId id = add_value(std::move(value_name), tensor.type(), true);
  values[id].constant = std::move(tensor);
  return id;
}

std::optional<ValueId> Graph::find_value(std::string_view value_name) const {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].name == value_name) return static_cast<ValueId>(i);
  }
  return std::nullopt;
}

const HostTensor* Graph::constant(ValueId id) const {
  return id < values.size() && values[id].constant ? &*values[id].constant : nullptr;
}

std::string describe(const Node& node) {
  std::string text(node.op ? node.op->type() : "node");
  if (!node.name.empty()) text += " '" + node.name + "'";
  return text;
}

std::vector<OperatorInput> operator_inputs(const Graph& graph, const Node& node) {
  std::vector<OperatorInput> inputs;
  inputs.reserve(node.inputs.size());
  for (const ValueId id : node.inputs) {
    if (id == kNoValue) {
      inputs.emplace_back();
    } else {
      inputs.push_back({true, graph.values[id].type, graph.constant(id)});
    }
  }
  return inputs;
}

namespace {

// Calls `work` and adds the node's name to its errors.
template <typename Work>
auto naming(const Node& node, Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(error.code(), describe(node) + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, describe(node) + ": not enough host memory");
  }
}

void check_output_count(const Node& node, size_t produced) {
  if (produced < node.outputs.size()) {
    throw Error(ErrorCode::corrupt_model, "the node names " + std::to_string(node.outputs.size()) +
                                              " outputs, the operator has " + std::to_string(produced));
  }
}

}  // namespace

std::vector<TensorType> infer(const Graph& graph, const Node& node) {
  return naming(node, [&] {
    const std::vector<OperatorInput> inputs = operator_inputs(graph, node);
    check_same_types(node.op->type(), inputs);
    auto types = node.op->infer(inputs);
    check_output_count(node, types.size());
    for (const TensorType& type : types) check_size(graph, type.shape);
    return types;
  });
}

std::vector<TensorType> infer_open(const Graph& graph, const Node& node) {
  return naming(node, [&] {
    auto types = node.op->infer_open(operator_inputs(graph, node));
    if (!types.empty()) check_output_count(node, types.size());
    return types;
  });
}

namespace {

bool is_empty(const TensorType& type) { return element_count(type.shape) == 0; }

// Returns the results of a node that reads an empty tensor, if all results are empty, too, so that host
// references need not handle this case. Returns nothing otherwise, and for operators with graphs, whose nodes
// handle it.
std::vector<HostTensor> empty_results(const Node& node, std::span<const HostTensor* const> inputs) {
  if (dynamic_cast<const GraphOperator*>(node.op.get()) != nullptr) return {};
  const bool reads_empty = std::any_of(inputs.begin(), inputs.end(), [](const HostTensor* input) {
    return input != nullptr && input->elements() == 0;
  });
  if (!reads_empty) return {};
  const std::vector<TensorType> types = infer_known(*node.op, inputs);
  if (!std::all_of(types.begin(), types.end(), is_empty)) return {};
  std::vector<HostTensor> results;
  for (const TensorType& type : types) results.emplace_back(type.dtype, type.shape);
  return results;
}

}  // namespace

std::vector<HostTensor> evaluate(const Node& node, std::span<const HostTensor* const> inputs) {
  return naming(node, [&] {
    auto results = empty_results(node, inputs);
    if (results.empty()) results = node.op->evaluate(inputs);
    check_output_count(node, results.size());
    return results;
  });
}

namespace {

std::string value_text(const Graph& graph, ValueId id) {
  if (id == kNoValue) return "-";
  const Value& value = graph.values[id];
  std::string text = value.name;
  if (value.constant) text += '[' + to_string(value.type.shape) + ']';
  return text;
}

std::string typed_value_text(const Graph& graph, ValueId id) {
  if (id == kNoValue) return "-";
  const Value& value = graph.values[id];
  if (!value.type_known) return value.name + ": ?";
  return value.name + ": " + std::string(name(value.type.dtype)) + ' ' + to_string(value.type.shape);
}

template <typename Print>
void print_list(std::ostringstream& out, const std::vector<ValueId>& ids, Print print) {
  for (size_t i = 0; i < ids.size(); ++i) out << (i > 0 ? ", " : "") << print(ids[i]);
}

}  // namespace

std::vector<const Value*> model_outputs(const Graph& graph) {
  std::vector<const Value*> outputs;
  if (!graph.tail) {
    for (const ValueId id : graph.outputs) outputs.push_back(&graph.values[id]);
    return outputs;
  }
  for (const auto& [of_tail, index] : graph.tail->outputs) {
    const Graph& from = of_tail ? graph.tail->graph : graph;
    outputs.push_back(&from.values[from.outputs[index]]);
  }
  return outputs;
}

std::string to_text(const Graph& graph) {
  std::ostringstream out;
  const auto plain = [&](ValueId id) { return value_text(graph, id); };
  const auto typed = [&](ValueId id) { return typed_value_text(graph, id); };
  out << "graph '" << graph.name << "'\n";
  for (const ValueId id : graph.inputs) out << "input  " << typed(id) << '\n';
  for (const Node& node : graph.nodes) {
    out << "  " << describe(node) << '(';
    print_list(out, node.inputs, plain);
    out << ')';
    const std::string attributes = to_string(node.op->attributes());
    if (!attributes.empty()) out << " {" << attributes << '}';
    out << " -> ";
    print_list(out, node.outputs, typed);
    out << '\n';
  }
  for (const ValueId id : graph.outputs) out << "output " << typed(id) << '\n';
  if (graph.tail) out << "then on the host: " << to_text(graph.tail->graph);
  return out.str();
}

}  // namespace vellum

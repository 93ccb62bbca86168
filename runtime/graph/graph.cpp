#include "graph/graph.hpp"

#include <algorithm>
#include <new>
#include <sstream>
#include <unordered_set>

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

// Shapes with more dimensions than any model has would slow down each rule and message.
constexpr size_t kMostDimensions = 64;

}  // namespace

void check_size(const Graph& graph, const Shape& shape) {
  if (shape.size() > kMostDimensions) {
    throw Error(ErrorCode::unsupported, "a tensor has " + std::to_string(shape.size()) +
                                            " dimensions, more than " + std::to_string(kMostDimensions));
  }
  const auto elements = static_cast<uint64_t>(checked_element_count(shape));
  if (elements > graph.limits.elements) {
    throw Error(ErrorCode::unsupported, "a tensor of shape " + to_string(shape) + " has more than " +
                                            std::to_string(graph.limits.elements) + " elements, the limit");
  }
}

namespace {

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

namespace {

// Counts the nodes of a graph and of the graphs nested in it. `depth`: the nesting of this graph.
uint64_t count_nodes(const Graph& graph, const LoadLimits& limits, uint32_t depth) {
  if (depth > limits.nesting) {
    throw Error(ErrorCode::unsupported,
                "graphs within graphs are deeper than " + std::to_string(limits.nesting) + ", the limit");
  }
  uint64_t nodes = graph.nodes.size();
  for (const Node& node : graph.nodes)
    if (const auto* op = dynamic_cast<const GraphOperator*>(node.op.get()))
      for (const Graph* inner : op->graphs()) nodes += count_nodes(*inner, limits, depth + 1);
  return nodes;
}

}  // namespace

void check_limits(const Graph& graph) {
  const uint64_t nodes = count_nodes(graph, graph.limits, 0);
  if (nodes > graph.limits.nodes) {
    throw Error(ErrorCode::unsupported, "the model has " + std::to_string(nodes) + " nodes, more than " +
                                            std::to_string(graph.limits.nodes) + ", the limit");
  }
  // Callers name inputs one by one, and each name is searched in the list.
  constexpr size_t kMostInterface = 1 << 14;
  if (graph.inputs.size() + graph.outputs.size() > kMostInterface) {
    throw Error(ErrorCode::unsupported, "the model has " + std::to_string(graph.inputs.size()) +
                                            " inputs and " + std::to_string(graph.outputs.size()) +
                                            " outputs, together more than " + std::to_string(kMostInterface));
  }
  for (const Value& value : graph.values) {
    if (!value.constant) continue;
    try {
      check_size(graph, value.type.shape);
    } catch (const Error& error) {
      throw Error(error.code(), "constant '" + value.name + "': " + error.what());
    }
  }
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

class GraphChecker {
 public:
  explicit GraphChecker(const Graph& graph) : graph_(graph), defined_(graph.values.size(), false) {}

  void run() {
    check_names();
    for (size_t i = 0; i < graph_.values.size(); ++i) defined_[i] = graph_.values[i].constant.has_value();
    for (const ValueId id : graph_.inputs) define_input(id);
    for (const Node& node : graph_.nodes) check_node(node);
    for (const ValueId id : graph_.outputs) use(id, "graph output");
    if (graph_.tail) check_tail(*graph_.tail);
  }

 private:
  [[noreturn]] static void fail(const std::string& message) {
    throw Error(ErrorCode::corrupt_model, message);
  }

  void check_names() const {
    std::unordered_set<std::string_view> names;
    for (const Value& value : graph_.values) {
      if (value.name.empty()) fail("a value of the graph has no name");
      if (!names.insert(value.name).second) fail("two values of the graph are called '" + value.name + "'");
    }
  }

  void check_id(ValueId id, const std::string& where) const {
    if (id >= graph_.values.size())
      throw Error(ErrorCode::internal, where + " names a value that does not exist");
  }

  void define(ValueId id, const std::string& where) {
    check_id(id, where);
    if (defined_[id]) fail(where + ": value '" + graph_.values[id].name + "' is defined twice");
    defined_[id] = true;
  }

  // An input whose values are known before running is a constant, too.
  void define_input(ValueId id) {
    check_id(id, "graph input");
    if (graph_.constant(id) == nullptr) define(id, "graph input");
  }

  void use(ValueId id, const std::string& where) const {
    check_id(id, where);
    if (!defined_[id]) {
      fail(where + ": value '" + graph_.values[id].name +
           "' is used before it is computed (a cycle, or missing)");
    }
  }

  void check_node(const Node& node) {
    const std::string where = describe(node);
    if (node.op == nullptr) throw Error(ErrorCode::internal, where + " has no operator");
    if (node.outputs.empty() || node.outputs[0] == kNoValue)
      throw Error(ErrorCode::internal, where + " has no first output");
    for (const ValueId id : node.inputs) {
      if (id != kNoValue) use(id, where);
    }
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) define(id, where);
    }
  }

  void check_tail(const HostTail& tail) const {
    check(tail.graph);
    bool fits = tail.reads.size() == tail.graph.inputs.size();
    for (const size_t read : tail.reads) fits = fits && read < graph_.outputs.size();
    for (const HostTail::Output& output : tail.outputs)
      fits = fits && output.index < (output.of_tail ? tail.graph : graph_).outputs.size();
    if (!fits) throw Error(ErrorCode::internal, "the tail of the graph reads what does not exist");
  }

  const Graph& graph_;
  std::vector<bool> defined_;
};

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

void check(const Graph& graph) { GraphChecker(graph).run(); }

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

namespace {

void check_input(const Value& value, const HostTensor& tensor) {
  if (!value.type_known) return;
  bool fits = value.type.dtype == tensor.dtype() && value.type.shape.size() == tensor.shape().size();
  for (size_t i = 0; fits && i < tensor.shape().size(); ++i) {
    fits = value.type.shape[i] == kUnknownDim || value.type.shape[i] == tensor.shape()[i];
  }
  if (!fits) {
    throw Error(ErrorCode::invalid_argument,
                "input '" + value.name + "' is " + std::string(name(value.type.dtype)) + ' ' +
                    to_string(value.type.shape) + ", given is " + std::string(name(tensor.dtype())) + ' ' +
                    to_string(tensor.shape()));
  }
}

// Returns the outputs of the model from the outputs of the graph before its tail.
std::vector<HostTensor> with_tail(const HostTail& tail, const std::vector<HostTensor>& before) {
  std::vector<HostTensor> read, outputs;
  for (const size_t index : tail.reads) read.push_back(before[index]);
  const std::vector<HostTensor> after = evaluate(tail.graph, read);
  for (const auto& [of_tail, index] : tail.outputs) outputs.push_back((of_tail ? after : before)[index]);
  return outputs;
}

// Counts the nodes and graph outputs that read each value. Its tensor is freed after the last read.
std::vector<uint32_t> count_uses(const Graph& graph) {
  std::vector<uint32_t> uses(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.inputs) {
      if (id != kNoValue) ++uses[id];
    }
  }
  for (const ValueId id : graph.outputs) ++uses[id];
  return uses;
}

}  // namespace

std::vector<HostTensor> evaluate(const Graph& graph, std::span<const HostTensor> inputs) {
  const std::vector<HostTensor> outputs =
      evaluate(graph, inputs, [](const Node& node, std::span<const HostTensor* const> arguments) {
        return evaluate(node, arguments);
      });
  return graph.tail ? with_tail(*graph.tail, outputs) : outputs;
}

std::vector<HostTensor> evaluate(const Graph& graph, std::span<const HostTensor> inputs,
                                 const EvaluateNode& evaluate_node) {
  if (inputs.size() != graph.inputs.size()) {
    throw Error(ErrorCode::invalid_argument, "the graph has " + std::to_string(graph.inputs.size()) +
                                                 " inputs, given are " + std::to_string(inputs.size()));
  }
  std::vector<std::optional<HostTensor>> tensors(graph.values.size());
  for (size_t i = 0; i < graph.values.size(); ++i) tensors[i] = graph.values[i].constant;
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_input(graph.values[graph.inputs[i]], inputs[i]);
    tensors[graph.inputs[i]] = inputs[i];
  }
  auto uses = count_uses(graph);
  for (const Node& node : graph.nodes) {
    std::vector<const HostTensor*> arguments;
    for (const ValueId id : node.inputs) arguments.push_back(id == kNoValue ? nullptr : &tensors[id].value());
    auto results = evaluate_node(node, arguments);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue && uses[node.outputs[i]] > 0)
        tensors[node.outputs[i]] = std::move(results[i]);
    }
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && --uses[id] == 0) tensors[id].reset();
    }
  }
  std::vector<HostTensor> outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(tensors[id].value());
  return outputs;
}

}  // namespace vellum

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/operators/elementwise/quantize.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/graph_editor.hpp"
#include "passes/shapes/carry_batch.hpp"
#include "passes/shapes/folding_budget.hpp"
#include "passes/shapes/inline_branch.hpp"
#include "passes/shapes/loop_invariants.hpp"
#include "passes/shapes/sequences.hpp"
#include "passes/shapes/shape_inputs.hpp"
#include "passes/shapes/tail_cutter.hpp"
#include "passes/shapes/unroll_loop.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

std::string list_inputs(const Graph& graph) {
  std::string text;
  for (const ValueId id : graph.inputs) {
    if (!text.empty()) text += ", ";
    text += "'" + graph.values[id].name + "' (";
    text += (graph.values[id].type_known ? to_string(graph.values[id].type.shape) : "any shape") + ")";
  }
  return text.empty() ? "none" : text;
}

void check_names(const Graph& graph, const InputShapes& shapes) {
  for (const auto& [name, shape] : shapes) {
    bool found = false;
    for (const ValueId id : graph.inputs) found = found || graph.values[id].name == name;
    if (!found) {
      throw Error(ErrorCode::invalid_argument, "a shape is given for '" + name +
                                                   "', which is no input of the model; it has " +
                                                   list_inputs(graph));
    }
  }
}

// The first dimension is the batch in vision models. Many are exported with a batch of 1 and run with any;
// the shape rules of the nodes find out whether this one does.
void check_fits(const Value& input, const Shape& shape) {
  const Shape& declared = input.type.shape;
  bool fits = shape.size() == declared.size();
  for (size_t i = 1; fits && i < shape.size(); ++i)
    fits = declared[i] == kUnknownDim || declared[i] == shape[i];
  if (!fits) {
    throw Error(ErrorCode::invalid_argument,
                "input '" + input.name + "' of the model is " + to_string(declared) +
                    " (the first dimension is the batch and may differ), not " + to_string(shape));
  }
}

void check_shape(const Value& input, const Shape& shape) {
  for (const int64_t dim : shape) {
    if (dim < 0) {
      throw Error(ErrorCode::invalid_argument, "the shape given for input '" + input.name + "', " +
                                                   to_string(shape) + ", has a negative dimension");
    }
  }
  if (input.type_known) check_fits(input, shape);
}

bool is_empty(const TensorType& type) { return element_count(type.shape) == 0; }

// Inputs of known values, and those that have none, are constants; they stay inputs.
void bind_values(Value& input, const InputTensors& values) {
  const auto found = values.find(input.name);
  if (found != values.end())
    input.constant = found->second;
  else if (is_empty(input.type))
    input.constant = HostTensor(input.type.dtype, input.type.shape);
}

void check_values_are_given(const Graph& graph, const InputTensors& values) {
  const std::vector<bool> needed = find_shape_inputs(graph);
  for (size_t i = 0; i < needed.size(); ++i) {
    const Value& input = graph.values[graph.inputs[i]];
    if (needed[i] && !input.constant && !values.contains(input.name) && !is_empty(input.type))
      throw Error(ErrorCode::invalid_argument,
                  "the values of input '" + input.name +
                      "' decide shapes: give them (SessionOptions::input_values, --value NAME=1,2,3)");
  }
}

void bind_shape(Value& input, const InputShapes& shapes) {
  const auto found = shapes.find(input.name);
  if (found != shapes.end()) {
    check_shape(input, found->second);
    input.type.shape = found->second;
    input.type_known = true;
  }
  Shape bound = input.type.shape;
  if (input.type_known && !bound.empty() && bound[0] == kUnknownDim) bound[0] = 1;
  if (!input.type_known || !is_known(bound)) {
    throw Error(ErrorCode::invalid_argument,
                "the model leaves the shape of input '" + input.name + "' open" +
                    (input.type_known ? " (" + to_string(input.type.shape) + ")" : "") +
                    "; give a shape for it, such as 1x3x224x224");
  }
  input.type.shape = std::move(bound);
}

// Gets the node's inputs where they are constant or have no elements.
bool known_inputs(const Graph& graph, const Node& node, std::vector<HostTensor>& tensors) {
  for (const ValueId id : node.inputs) {
    if (id == kNoValue) {
      tensors.emplace_back();
    } else if (const HostTensor* constant = graph.constant(id)) {
      tensors.push_back(*constant);
    } else if (is_empty(graph.values[id].type)) {
      tensors.emplace_back(graph.values[id].type.dtype, graph.values[id].type.shape);
    } else {
      return false;
    }
  }
  return true;
}

std::vector<OperatorInput> as_known(const Node& node, const std::vector<HostTensor>& tensors) {
  std::vector<OperatorInput> inputs;
  for (size_t i = 0; i < tensors.size(); ++i)
    inputs.push_back(node.inputs[i] == kNoValue ? OperatorInput{}
                                                : OperatorInput{true, tensors[i].type(), &tensors[i]});
  return inputs;
}

// Makes the node's outputs constants.
void set_constants(Graph& graph, const Node& node, const std::vector<TensorType>& types,
                   std::vector<HostTensor> results) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    if (results[i].type() != types[i]) {
      throw Error(ErrorCode::internal,
                  describe(node) + ": the result has another type than its shape rule says");
    }
    graph.values[node.outputs[i]].constant = std::move(results[i]);
  }
}

// Returns whether the node makes a matrix of constants that fuse_packed_weights() may keep as integers.
bool makes_dequantized_matrix(const Graph& graph, const Node& node) {
  constexpr int64_t kLeastElements = 1024;  // fewer are not worth kernels of their own
  if (node.op->type() != "DequantizeLinear") return false;
  const HostTensor* integers = graph.constant(node.inputs[0]);
  return integers && is_byte(integers->dtype()) && integers->shape().size() == 2 &&
         integers->elements() >= kLeastElements;
}

// Computes the node's outputs where its inputs are constant, or where their types are enough.
bool fold(Graph& graph, const Node& node, const std::vector<TensorType>& types, FoldingBudget& budget) {
  if (node.op->reads_types_only()) {
    if (!budget.allows(node, {}, types)) return false;
    set_constants(graph, node, types, {node.op->evaluate_types(operator_inputs(graph, node))});
    budget.add_results(node);
    return true;
  }
  std::vector<HostTensor> tensors;
  if (!known_inputs(graph, node, tensors)) {
    budget.leave(node, types);
    return false;
  }
  if (!budget.allows(node, as_known(node, tensors), types)) return false;
  std::vector<const HostTensor*> arguments;
  for (size_t i = 0; i < tensors.size(); ++i) {
    arguments.push_back(node.inputs[i] == kNoValue ? nullptr : &tensors[i]);
  }
  set_constants(graph, node, types, evaluate(node, arguments));
  if (node.op->type() == "DequantizeLinear") graph.has_integer_weights = true;
  budget.add_results(node);
  return true;
}

void set_types(Graph& graph, const Node& node, const std::vector<TensorType>& types) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    graph.values[node.outputs[i]].type = types[i];
    graph.values[node.outputs[i]].type_known = true;
  }
}

// Nothing is spent on what nobody reads.
void remove_unread_nodes(GraphEditor& editor) {
  for (const size_t index : editor.nodes_backwards()) {
    const auto& outputs = editor.node(index).outputs;
    if (std::none_of(outputs.begin(), outputs.end(),
                     [&](ValueId id) { return id != kNoValue && editor.is_read(id); }))
      editor.remove(index);
  }
}

// An output without elements is a constant: the node computes its other outputs, and the readers of this one
// need not wait for it. Returns whether the node has no other output.
bool fold_empty_outputs(GraphEditor& editor, Graph& graph, size_t index) {
  std::vector<ValueId> outputs = editor.node(index).outputs;
  bool others = false, changed = false;
  for (ValueId& id : outputs) {
    if (id == kNoValue) continue;
    const TensorType type = graph.values[id].type;
    if (!is_empty(type)) {
      others = true;
      continue;
    }
    graph.values[id].constant = HostTensor(type.dtype, type.shape);
    id = kNoValue;
    changed = true;
  }
  // A node always has its first output.
  if (others && outputs[0] == kNoValue)
    outputs[0] = editor.add_value(editor.node(index).name + "/empty", infer(graph, editor.node(index))[0]);
  if (others && changed) editor.set_outputs(index, std::move(outputs));
  return !others;
}

}  // namespace

void check_input_shapes(const Graph& graph, const InputShapes& shapes) {
  check_names(graph, shapes);
  for (const ValueId id : graph.inputs) {
    const auto found = shapes.find(graph.values[id].name);
    if (found != shapes.end()) check_shape(graph.values[id], found->second);
  }
}

void infer_shapes_and_fold(Graph& graph, const InputShapes& input_shapes, const InputTensors& values,
                           DequantizedMatrices matrices) {
  InputShapes shapes = input_shapes;
  for (const auto& [name, tensor] : values) shapes.erase(name);
  const BatchCarrier batch(graph, shapes, values);  // the number of sizes is no batch
  for (const auto& [name, tensor] : values) shapes.emplace(name, tensor.shape());
  check_names(graph, shapes);
  for (const ValueId id : graph.inputs) bind_shape(graph.values[id], shapes);
  check_values_are_given(graph, values);
  for (const ValueId id : graph.inputs) bind_values(graph.values[id], values);
  GraphEditor editor(graph);
  remove_unread_nodes(editor);
  FoldingBudget budget(graph);
  TailCutter tail;
  SequenceTracker sequences;
  for (const size_t index : editor.nodes()) {
    if (has_known_branch(editor, index)) {
      inline_branch(editor, index, graph.folding);  // its nodes are visited next
      continue;
    }
    if (has_known_iteration(editor, index)) {
      unroll_iteration(editor, index, graph.folding);  // likewise
      continue;
    }
    if (hoist_invariants(editor, index, [&](ValueId id) { return tail.computes(id); })) continue;  // likewise
    if (sequences.visit(editor, index) == SequenceTracker::Found::sequence || editor.removed(index)) continue;
    batch.carry(editor, index);
    Node node = editor.node(index);
    budget.check_shape_rule(node);
    if (tail.takes(graph, node)) {
      editor.remove(index);
      continue;
    }
    const std::vector<TensorType> types = infer(graph, node);
    set_types(graph, node, types);
    if (matrices == DequantizedMatrices::keep && makes_dequantized_matrix(graph, node)) continue;
    if (!fold_empty_outputs(editor, graph, index) && !fold(graph, editor.node(index), types, budget))
      continue;
    editor.remove(index);
    for (const ValueId id : node.inputs)
      if (id != kNoValue && !editor.is_read(id) && !tail.reads(id)) budget.release(id);
  }
  sequences.remove_nodes(editor);
  editor.commit();
  tail.cut(graph);
}

}  // namespace vellum

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "passes/shapes/carry_batch.hpp"
#include "passes/shapes/inline_branch.hpp"
#include "passes/passes.hpp"
#include "passes/shapes/tail_cutter.hpp"
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

// The leading dimension is the batch in every vision model we know of, and models are often exported with it
// fixed to 1 although they would run with any; the shape rules of the nodes find out whether this one does.
void check_fits(const Value& input, const Shape& given) {
  const Shape& declared = input.type.shape;
  bool fits = given.size() == declared.size();
  for (size_t i = 1; fits && i < given.size(); ++i)
    fits = declared[i] == kUnknownDim || declared[i] == given[i];
  if (!fits) {
    throw Error(ErrorCode::invalid_argument,
                "input '" + input.name + "' of the model is " + to_string(declared) +
                    " (the first dimension is the batch and may differ), not " + to_string(given));
  }
}

void check_given(const Value& input, const Shape& given) {
  for (const int64_t dim : given) {
    if (dim <= 0) {
      throw Error(ErrorCode::invalid_argument, "the shape given for input '" + input.name + "', " +
                                                   to_string(given) + ", must have positive dimensions only");
    }
  }
  if (input.type_known) check_fits(input, given);
}

void bind(Value& input, const InputShapes& shapes) {
  const auto given = shapes.find(input.name);
  if (given != shapes.end()) {
    check_given(input, given->second);
    input.type.shape = given->second;
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

// Folding trades memory for time; something like a ConstantOfShape of a gigabyte is better made by the
// device, or is the work of a damaged file.
bool worth_folding(const std::vector<HostTensor>& inputs, const std::vector<TensorType>& outputs) {
  constexpr uint64_t kAlways = uint64_t{64} << 20;
  constexpr uint64_t kGrowth = 8;
  uint64_t in = 0, out = 0;
  for (const HostTensor& tensor : inputs) in += tensor.byte_size();
  for (const TensorType& type : outputs)
    out += static_cast<uint64_t>(element_count(type.shape)) * size_of(type.dtype);
  return out <= kAlways || out / kGrowth <= in;
}

// The values of the node's inputs where they are known before running. Operators that look at nothing but the
// shape of their input are given zeros of that shape.
bool known_inputs(const Graph& graph, const Node& node, std::vector<HostTensor>& tensors) {
  const std::string_view type = node.op->type();
  const bool shape_only = type == "Shape" || type == "Size" || type == "EyeLike";
  for (const ValueId id : node.inputs) {
    if (id == kNoValue) {
      tensors.emplace_back();
    } else if (const HostTensor* constant = graph.constant(id)) {
      tensors.push_back(*constant);
    } else if (shape_only) {
      tensors.emplace_back(graph.values[id].type.dtype, graph.values[id].type.shape);
    } else {
      return false;
    }
  }
  return true;
}

// True where the node became constants.
bool fold(Graph& graph, const Node& node, const std::vector<TensorType>& types) {
  std::vector<HostTensor> tensors;
  if (!known_inputs(graph, node, tensors) || !worth_folding(tensors, types)) return false;
  std::vector<const HostTensor*> arguments;
  for (size_t i = 0; i < tensors.size(); ++i) {
    arguments.push_back(node.inputs[i] == kNoValue ? nullptr : &tensors[i]);
  }
  auto results = evaluate(node, arguments);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    if (results[i].type() != types[i]) {
      throw Error(ErrorCode::internal,
                  describe(node) + ": the result has another type than its shape rule says");
    }
    graph.values[node.outputs[i]].constant = std::move(results[i]);
  }
  return true;
}

void infer_and_keep(Graph& graph, Node node, const BatchCarrier& batch, TailCutter& tail,
                    std::vector<Node>& kept) {
  if (has_known_branch(graph, node)) {
    for (Node& inner : inline_branch(graph, node)) infer_and_keep(graph, std::move(inner), batch, tail, kept);
    return;
  }
  batch.carry(graph, node);
  if (tail.takes(graph, node)) return;
  const std::vector<TensorType> types = infer(graph, node);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    graph.values[node.outputs[i]].type = types[i];
    graph.values[node.outputs[i]].type_known = true;
  }
  if (!fold(graph, node, types)) kept.push_back(std::move(node));
}

}  // namespace

void check_input_shapes(const Graph& graph, const InputShapes& shapes) {
  check_names(graph, shapes);
  for (const ValueId id : graph.inputs) {
    const auto given = shapes.find(graph.values[id].name);
    if (given != shapes.end()) check_given(graph.values[id], given->second);
  }
}

void infer_shapes_and_fold(Graph& graph, const InputShapes& shapes) {
  check_names(graph, shapes);
  const BatchCarrier batch(graph, shapes);
  for (const ValueId id : graph.inputs) bind(graph.values[id], shapes);
  std::vector<Node> kept;
  kept.reserve(graph.nodes.size());
  TailCutter tail;
  for (Node& node : graph.nodes) infer_and_keep(graph, std::move(node), batch, tail, kept);
  graph.nodes = std::move(kept);
  tail.cut(graph);
}

}  // namespace vellum

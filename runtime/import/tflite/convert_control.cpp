// IF and WHILE become If and Loop. Their graphs have the tensors' real values and the file's order of
// dimensions as inputs and outputs.
#include <limits>

#include "graph/operators/control/branch.hpp"
#include "graph/operators/control/loop.hpp"
#include "import/tflite/call.hpp"
#include "import/tflite/subgraph.hpp"

namespace vellum::tflite {
namespace {

uint32_t graph_number(int32_t index) {
  if (index < 0) refuse_model("it calls graph " + std::to_string(index));
  return static_cast<uint32_t>(index);
}

// NOLINTNEXTLINE(misc-no-recursion): read_subgraph() bounds it
Graph called_graph(const Call& call, int32_t index, size_t inputs, size_t outputs) {
  Graph graph = read_subgraph(call.writer.file(), graph_number(index));
  if (graph.inputs.size() != inputs || graph.outputs.size() != outputs)
    refuse_model("it calls a graph with " + std::to_string(graph.inputs.size()) + " inputs and " +
                 std::to_string(graph.outputs.size()) + " outputs, expected " + std::to_string(inputs) +
                 " and " + std::to_string(outputs));
  return graph;
}

std::vector<ValueId> arguments(const Call& call, size_t first) {
  std::vector<ValueId> values;
  for (size_t i = first; i < call.inputs.size(); ++i)
    values.push_back(call.writer.in_file_order(call.input(i)));
  return values;
}

void define_outputs(const Call& call, std::shared_ptr<const Operator> op, std::vector<ValueId> inputs) {
  std::vector<ValueId> outputs;
  for (const int32_t tensor : call.outputs) outputs.push_back(call.writer.define(tensor, false));
  call.writer.add_node(std::move(op), std::move(inputs), std::move(outputs));
}

// Calls a graph as Writer::call() does.
std::vector<ValueId> call_in(Graph& into, const std::string& name, const Graph& graph,
                             const std::vector<ValueId>& inputs) {
  std::vector<ValueId> outputs;
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    outputs.push_back(into.add_value(name + "_" + std::to_string(i)));
  into.nodes.push_back(
      call_node(name, graph, into.add_constant(name + "_called", always()), inputs, outputs));
  return outputs;
}

}  // namespace

void convert_if(const Call& call) {
  const auto& options = call.required_options<schema::IfOptions>();
  const std::vector<ValueId> given = arguments(call, 1);
  auto op = std::make_shared<If>();
  op->then_branch = called_graph(call, options.then_subgraph_index(), given.size(), call.outputs.size());
  op->else_branch = called_graph(call, options.else_subgraph_index(), given.size(), call.outputs.size());
  std::vector<ValueId> inputs{call.writer.in_file_order(call.input(0))};
  for (int branch = 0; branch < 2; ++branch) inputs.insert(inputs.end(), given.begin(), given.end());
  define_outputs(call, std::move(op), std::move(inputs));
}

void convert_composite(const Call& call) {
  const auto* options = call.op.builtin_options_2_as_StableHLOCompositeOptions();
  if (options == nullptr) refuse_model("its options are missing or of another operator");
  const std::vector<ValueId> given = arguments(call, 0);
  const Graph graph =
      called_graph(call, options->decomposition_subgraph_index(), given.size(), call.outputs.size());
  const ValueId condition = call.writer.add_constant(call.type + "_called", always());
  Node node = call_node(call.type, graph, condition, given, {});
  define_outputs(call, std::move(node.op), std::move(node.inputs));
}

// The condition is computed before the loop, and at the end of each iteration for the next one.
void convert_while(const Call& call) {
  const auto& options = call.required_options<schema::WhileOptions>();
  std::vector<ValueId> states = arguments(call, 0);
  const size_t count = states.size();
  if (call.outputs.size() != count) refuse_model("its inputs and outputs differ in number");
  const Graph condition = called_graph(call, options.cond_subgraph_index(), count, 1);
  const Graph body = called_graph(call, options.body_subgraph_index(), count, count);

  auto loop = std::make_shared<LoopOperator>();
  loop->states = count;
  Graph& iteration = loop->body;
  iteration.inputs = {iteration.add_value("iteration", {DType::i64, {}}, true),
                      iteration.add_value("condition", {DType::boolean, {}}, true)};
  for (const ValueId input : body.inputs)
    iteration.inputs.push_back(iteration.add_value("state_" + std::to_string(iteration.inputs.size() - 2),
                                                   body.values[input].type, true));
  const std::vector<ValueId> next =
      call_in(iteration, "body", body, {iteration.inputs.begin() + 2, iteration.inputs.end()});
  iteration.outputs = call_in(iteration, "again", condition, next);
  iteration.outputs.insert(iteration.outputs.end(), next.begin(), next.end());

  const ValueId most = call.writer.add_constant(
      call.type + "_most", HostTensor::i64({}, std::vector<int64_t>{std::numeric_limits<int64_t>::max()}));
  std::vector<ValueId> inputs{most, call.writer.call(condition, states)[0]};
  inputs.insert(inputs.end(), states.begin(), states.end());
  define_outputs(call, std::move(loop), std::move(inputs));
}

}  // namespace vellum::tflite

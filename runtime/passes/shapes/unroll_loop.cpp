#include "passes/shapes/unroll_loop.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/operators/control/branch.hpp"
#include "graph/operators/control/loop.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/inline_graph.hpp"
#include "passes/rewrite/match.hpp"
#include "passes/rewrite/stack_values.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

bool ends(const GraphEditor& editor, const Node& node, const LoopOperator& loop) {
  return loop.finished >= LoopOperator::iterations(*editor.constant(node.inputs[0])) ||
         !If::is_true(*editor.constant(node.inputs[1]));
}

// The type of a stacked output of no iteration: that of the element with the states as they begin.
TensorType empty_stack_type(const GraphEditor& editor, const Node& node, const LoopOperator& loop, size_t k) {
  Graph body = loop.body;
  body.limits = editor.graph().limits;
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    Value& input = body.values[body.inputs[i]];
    if (i == 0) {
      input.constant = HostTensor::i64(loop.iteration_shape(), std::vector<int64_t>{0});
    } else {
      const Value& outer = editor.graph().values[node.inputs[i]];
      input.type = outer.type;
      input.constant = outer.constant;
    }
    if (input.constant) input.type = input.constant->type();
    input.type_known = true;
  }
  infer_shapes_and_fold(body, {});
  TensorType type = body.values[body.outputs[1 + loop.states + k]].type;
  const size_t axis = normalize_axis(loop.stacks[k].axis, type.shape.size() + 1);
  type.shape.insert(type.shape.begin() + static_cast<ptrdiff_t>(axis), 0);
  return type;
}

// Computes stacked output `k` by nodes after `last`; returns the last of them.
size_t stack_elements(GraphEditor& editor, size_t last, const Node& node, const LoopOperator& loop,
                      size_t k) {
  std::vector<ValueId> elements;
  for (size_t i = loop.first_element() + k; i < node.inputs.size(); i += loop.stacks.size())
    elements.push_back(node.inputs[i]);
  if (loop.stacks[k].reversed) std::reverse(elements.begin(), elements.end());
  return stack_values(editor, last, node.name, std::move(elements), loop.stacks[k].axis,
                      node.outputs[loop.states + k]);
}

void finish_loop(GraphEditor& editor, size_t index, const Node& node, const LoopOperator& loop) {
  size_t last = index;
  const auto copy = [&](ValueId from, ValueId to) {
    last = editor.insert_after(last, {node.name, std::make_shared<Identity>(), {from}, {to}});
  };
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    if (i < loop.states) {
      copy(node.inputs[2 + i], node.outputs[i]);
    } else if (loop.finished > 0) {
      last = stack_elements(editor, last, node, loop, i - loop.states);
    } else {
      const TensorType type = empty_stack_type(editor, node, loop, i - loop.states);
      copy(editor.add_constant(node.name + "/empty", HostTensor(type.dtype, type.shape)), node.outputs[i]);
    }
  }
}

}  // namespace

bool has_known_iteration(const GraphEditor& editor, size_t index) {
  return match_node<LoopOperator>(editor, index) && editor.constant_input(index, 0) != nullptr &&
         editor.constant_input(index, 1) != nullptr;
}

// The branches of an iteration are chosen in it. Without Loops there are no more nodes than the model has.
void spend_nodes(const GraphEditor& editor, const Node& node, uint64_t nodes, FoldingSpent& spent) {
  const uint64_t most = editor.graph().limits.nodes;
  spent.unrolled_nodes += nodes;
  if (spent.unrolled_nodes > most)
    throw Error(ErrorCode::unsupported, describe(node) + ": the iterations have more than " +
                                            std::to_string(most) + " nodes, the limit of a model");
}

void unroll_iteration(GraphEditor& editor, size_t index, FoldingSpent& spent) {
  const Node node = editor.node(index);
  const LoopOperator& loop = dynamic_cast<const LoopOperator&>(*node.op);
  if (ends(editor, node, loop)) {
    finish_loop(editor, index, node, loop);
    editor.remove(index);
    return;
  }
  // The elements of stacked outputs are passed on from iteration to iteration.
  constexpr size_t kInputsPerNode = 256;
  spend_nodes(editor, node, loop.body.nodes.size() + 1 + node.inputs.size() / kInputsPerNode, spent);
  std::vector<ValueId> values(loop.body.values.size(), kNoValue);
  for (size_t i = 1; i < loop.body.inputs.size(); ++i) values[loop.body.inputs[i]] = node.inputs[i];
  values[loop.body.inputs[0]] = editor.add_constant(
      node.name + "/iteration", HostTensor::i64(loop.iteration_shape(), std::vector<int64_t>{loop.finished}));
  const size_t last = insert_nodes(editor, index, loop.body, values);
  auto rest = std::make_shared<LoopOperator>(loop);
  ++rest->finished;
  Node next{node.name, std::move(rest), node.inputs, node.outputs};
  for (size_t i = 0; i < loop.body.outputs.size(); ++i) {
    const ValueId result = values[loop.body.outputs[i]];
    if (i <= loop.states)
      next.inputs[1 + i] = result;
    else
      next.inputs.push_back(result);
  }
  editor.insert_after(last, std::move(next));
  editor.remove(index);
}

}  // namespace vellum

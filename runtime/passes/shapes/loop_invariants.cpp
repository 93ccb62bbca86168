#include "passes/shapes/loop_invariants.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "graph/operators/control/sequence.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

class Hoisting {
 public:
  Hoisting(GraphEditor& editor, size_t index)
      : editor_(editor),
        index_(index),
        node_(editor.node(index)),
        loop_(dynamic_cast<const LoopOperator&>(*node_.op)),
        outer_(loop_.body.values.size(), kNoValue) {}

  bool run(const std::function<bool(ValueId)>& is_late) {
    const std::vector<bool> is_invariant_input = invariant_inputs(loop_);
    for (size_t i = 0; i < is_invariant_input.size(); ++i)
      if (is_invariant_input[i] && !is_late(node_.inputs[i])) outer_[loop_.body.inputs[i]] = node_.inputs[i];
    auto rest = std::make_shared<LoopOperator>(loop_);
    rest->body.nodes.clear();
    for (const Node& node : loop_.body.nodes)
      if (!hoist(node)) rest->body.nodes.push_back(node);
    if (last_ == index_) return false;
    pass_results(*rest);
    node_.op = std::move(rest);
    editor_.insert_after(last_, std::move(node_));
    editor_.remove(index_);
    return true;
  }

 private:
  // Returns the value of the edited graph that equals a value of the body in each iteration; kNoValue if
  // there is none.
  ValueId outer(ValueId id) {
    if (outer_[id] == kNoValue && loop_.body.constant(id))
      outer_[id] = editor_.add_constant(loop_.body.values[id].name, *loop_.body.constant(id));
    return outer_[id];
  }

  bool is_invariant(ValueId id) const {
    return id == kNoValue || outer_[id] != kNoValue || loop_.body.constant(id);
  }

  // Nodes without inputs draw random numbers, and sequences exist only while shapes are inferred.
  bool hoist(const Node& node) {
    if (node.inputs.empty() ||
        !std::ranges::all_of(node.inputs, [&](ValueId id) { return is_invariant(id); }) ||
        dynamic_cast<const GraphOperator*>(node.op.get()) ||
        dynamic_cast<const SequenceOperator*>(node.op.get()))
      return false;
    Node copy = node;
    for (ValueId& id : copy.inputs)
      if (id != kNoValue) id = outer(id);
    for (ValueId& id : copy.outputs)
      if (id != kNoValue) id = outer_[id] = editor_.add_value(loop_.body.values[id].name);
    last_ = editor_.insert_after(last_, std::move(copy));
    return true;
  }

  // Makes results of moved nodes inputs of the Loop if its body still reads them.
  void pass_results(LoopOperator& rest) {
    std::vector<bool> is_read(rest.body.values.size(), false);
    for (const ValueId id : rest.body.outputs) is_read[id] = true;
    for (const Node& node : rest.body.nodes)
      for (const ValueId id : node.inputs)
        if (id != kNoValue) is_read[id] = true;
    const auto elements = node_.inputs.begin() + static_cast<ptrdiff_t>(loop_.first_element());
    std::vector<ValueId> results;
    for (const Node& node : loop_.body.nodes)
      for (const ValueId id : node.outputs)
        if (id != kNoValue && is_read[id] && outer_[id] != kNoValue) {
          rest.body.inputs.push_back(id);
          results.push_back(outer_[id]);
        }
    node_.inputs.insert(elements, results.begin(), results.end());
  }

  GraphEditor& editor_;
  const size_t index_;
  Node node_;
  const LoopOperator loop_;
  std::vector<ValueId> outer_;  // for each value of the body the equal value of the edited graph
  size_t last_ = index_;        // the last node that was moved
};

}  // namespace

std::vector<bool> invariant_inputs(const LoopOperator& loop) {
  const Graph& body = loop.body;
  std::vector<ValueId> originals(body.values.size());  // what each value is a copy of
  std::iota(originals.begin(), originals.end(), ValueId{0});
  for (const Node& node : body.nodes)
    if (dynamic_cast<const Identity*>(node.op.get())) originals[node.outputs[0]] = originals[node.inputs[0]];
  std::vector<bool> result(body.inputs.size(), false);
  for (size_t i = 2; i < result.size(); ++i)
    result[i] = i >= 2 + loop.states || originals[body.outputs[i - 1]] == body.inputs[i];
  return result;
}

bool hoist_invariants(GraphEditor& editor, size_t index, const std::function<bool(ValueId)>& is_late) {
  return match_node<LoopOperator>(editor, index) && Hoisting(editor, index).run(is_late);
}

}  // namespace vellum

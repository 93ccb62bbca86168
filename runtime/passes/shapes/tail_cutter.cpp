#include "passes/shapes/tail_cutter.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "graph/operators/control/branch.hpp"
#include "graph/operators/control/loop.hpp"
#include "passes/shapes/device_regions.hpp"
#include "passes/shapes/loop_regions.hpp"
#include "passes/shapes/open_types.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// Returns the loop for an evaluation on the host: the shapes that its body declares for states and values
// from outside need not be those of an iteration. Exporters declare a scalar where there is one element.
std::shared_ptr<const Operator> without_declared_types(const LoopOperator& loop) {
  auto result = std::make_shared<LoopOperator>(loop);
  for (size_t i = 1; i < result->body.inputs.size(); ++i)
    result->body.values[result->body.inputs[i]].type_known = false;
  return result;
}

// Builds the tail's graph from the nodes that reach an output of the model.
class TailBuilder {
 public:
  TailBuilder(Graph& graph, const std::unordered_set<ValueId>& late) : graph_(graph), late_(late) {}

  HostTail build(std::vector<Node> nodes) {
    keep_live(nodes);
    tail_.graph.name = graph_.name;
    const std::vector<ValueId> outputs = std::exchange(graph_.outputs, {});
    for (const ValueId id : outputs)
      if (!late_.contains(id)) early(id);
    for (Node& node : nodes) {
      rename(node.inputs);
      rename(node.outputs);
    }
    tail_.graph.nodes = std::move(nodes);
    for (const ValueId id : outputs) {
      if (!late_.contains(id)) {
        tail_.outputs.push_back({false, early(id)});
        continue;
      }
      tail_.outputs.push_back({true, tail_.graph.outputs.size()});
      tail_.graph.outputs.push_back(value(id));
    }
    return std::move(tail_);
  }

 private:
  void keep_live(std::vector<Node>& nodes) const {
    std::unordered_set<ValueId> live(graph_.outputs.begin(), graph_.outputs.end());
    std::vector<Node> kept;
    for (size_t i = nodes.size(); i-- > 0;) {
      const auto& outputs = nodes[i].outputs;
      if (std::none_of(outputs.begin(), outputs.end(), [&](ValueId id) { return live.contains(id); }))
        continue;
      for (const ValueId id : nodes[i].inputs)
        if (id != kNoValue) live.insert(id);
      kept.push_back(std::move(nodes[i]));
    }
    std::reverse(kept.begin(), kept.end());
    nodes = std::move(kept);
  }

  // The place of a value among the outputs of the graph before the tail, which it becomes one of.
  size_t early(ValueId id) {
    const auto found = std::find(graph_.outputs.begin(), graph_.outputs.end(), id);
    const auto index = static_cast<size_t>(found - graph_.outputs.begin());
    if (found == graph_.outputs.end()) graph_.outputs.push_back(id);
    return index;
  }

  // A value of the graph in that of the tail.
  ValueId value(ValueId id) {
    const auto [found, is_new] = values_.emplace(id, static_cast<ValueId>(tail_.graph.values.size()));
    if (!is_new) return found->second;
    tail_.graph.values.push_back(graph_.values[id]);
    if (!late_.contains(id) && !graph_.constant(id)) {
      tail_.graph.inputs.push_back(found->second);
      tail_.reads.push_back(early(id));
    }
    return found->second;
  }

  void rename(std::vector<ValueId>& ids) {
    for (ValueId& id : ids)
      if (id != kNoValue) id = value(id);
  }

  Graph& graph_;
  const std::unordered_set<ValueId>& late_;
  HostTail tail_;
  std::unordered_map<ValueId, ValueId> values_;
};

}  // namespace

bool TailCutter::takes(Graph& graph, Node& node) {
  const bool reads_late =
      std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return late_.contains(id); });
  // A Loop or an If that is still there has a number of iterations or a condition that is known only in a
  // run, and with it all types of the Loop.
  const auto* const loop = dynamic_cast<const LoopOperator*>(node.op.get());
  const bool chooses = dynamic_cast<const If*>(node.op.get()) != nullptr, decides = loop || chooses;
  const std::vector<TensorType> types = loop                    ? std::vector<TensorType>()
                                        : reads_late || chooses ? open_types(graph, node)
                                                                : infer_open(graph, node);
  if (!reads_late && !decides && types.empty()) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    late_.insert(node.outputs[i]);
    if (types.empty()) continue;
    graph.values[node.outputs[i]].type = types[i];
    graph.values[node.outputs[i]].type_known = true;
  }
  reads_.insert(node.inputs.begin(), node.inputs.end());
  if (loop) node.op = without_declared_types(*loop);
  nodes_.push_back(std::move(node));
  return true;
}

void TailCutter::cut(Graph& graph) {
  const bool needed =
      std::any_of(graph.outputs.begin(), graph.outputs.end(), [&](ValueId id) { return late_.contains(id); });
  if (!needed) return;
  if (graph.tail) throw Error(ErrorCode::internal, "a graph that has a tail gets another");
  HostTail tail = TailBuilder(graph, late_).build(std::move(nodes_));
  tail.graph.limits = graph.limits;
  group_layers(tail);
  group_loop_layers(tail);
  graph.tail = std::make_shared<const HostTail>(std::move(tail));
}

}  // namespace vellum

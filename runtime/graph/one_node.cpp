#include "graph/one_node.hpp"

namespace vellum {

OneNode one_node(const Graph& network, const Node& node) {
  OneNode one;
  one.graph.name = network.name;
  one.graph.has_integer_weights = network.has_integer_weights;
  Node copy{node.name, node.op, {}, {}};
  const auto position = [&](ValueId id) {
    for (ValueId at = 0; at < one.values.size(); ++at)
      if (one.values[at] == id) return at;
    return kNoValue;
  };
  for (const ValueId id : node.inputs) {
    ValueId own = id == kNoValue ? kNoValue : position(id);
    if (id != kNoValue && own == kNoValue) {
      const Value& value = network.values[id];
      own = value.constant ? one.graph.add_constant(value.name, *value.constant)
                           : one.graph.add_value(value.name, value.type, true);
      one.values.push_back(id);
      if (!value.constant) one.graph.inputs.push_back(own);
    }
    copy.inputs.push_back(own);
  }
  for (const ValueId id : node.outputs) {
    copy.outputs.push_back(kNoValue);
    if (id == kNoValue) continue;
    copy.outputs.back() = one.graph.add_value(network.values[id].name, network.values[id].type, true);
    one.values.push_back(id);
    one.graph.outputs.push_back(copy.outputs.back());
  }
  one.graph.nodes.push_back(std::move(copy));
  return one;
}

}  // namespace vellum

#include "network.hpp"

#include <unordered_map>

#include "vellum/error.hpp"

namespace vellum::ort {
namespace {

Shape shape_of(const std::vector<Dimension>& dimensions) {
  Shape shape;
  for (const Dimension& dimension : dimensions) shape.push_back(dimension.size);
  return shape;
}

// Copies values of a network to the graph of a part.
class PartBuilder {
 public:
  explicit PartBuilder(const Network& network) : network_(network) {}

  ValueId input(ValueId id) {
    if (id == kNoValue) return kNoValue;
    if (const auto found = ids_.find(id); found != ids_.end()) return found->second;
    const Value& value = network_.graph.values[id];
    if (value.constant) return ids_[id] = part.add_constant(value.name, *value.constant);
    if (!network_.dimensions[id])
      throw Error(ErrorCode::unsupported, "the rank of '" + value.name + "' is unknown");
    const ValueId own =
        part.add_value(value.name, {value.type.dtype, shape_of(*network_.dimensions[id])}, true);
    part.inputs.push_back(own);
    return ids_[id] = own;
  }

  ValueId output(ValueId id) {
    if (id == kNoValue) return kNoValue;
    return ids_[id] = part.add_value(network_.graph.values[id].name);
  }

  void mark_output(ValueId id) {
    const ValueId own = ids_.at(id);
    part.values[own].type.dtype = network_.graph.values[id].type.dtype;
    if (network_.dimensions[id]) part.values[own].type.shape = shape_of(*network_.dimensions[id]);
    part.outputs.push_back(own);
  }

  Graph part;

 private:
  const Network& network_;
  std::unordered_map<ValueId, ValueId> ids_;
};

}  // namespace

Graph part_of(const Network& network, const std::vector<bool>& taken) {
  const Graph& graph = network.graph;
  std::vector<bool> read_outside(graph.values.size(), false);
  for (const ValueId id : graph.outputs) read_outside[id] = true;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (!taken[i])
      for (const ValueId id : graph.nodes[i].inputs)
        if (id != kNoValue) read_outside[id] = true;
  PartBuilder builder(network);
  std::vector<ValueId> outputs;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!taken[i]) continue;
    const Node& node = graph.nodes[i];
    Node copy{node.name, node.op, {}, {}};
    for (const ValueId id : node.inputs) copy.inputs.push_back(builder.input(id));
    for (const ValueId id : node.outputs) {
      copy.outputs.push_back(builder.output(id));
      if (id != kNoValue && read_outside[id]) outputs.push_back(id);
    }
    builder.part.nodes.push_back(std::move(copy));
  }
  for (const ValueId id : outputs) builder.mark_output(id);
  builder.part.name = graph.name;
  check_limits(builder.part);
  return std::move(builder.part);
}

}  // namespace vellum::ort

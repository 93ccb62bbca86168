#include "passes/shapes/device_regions.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/layers.hpp"
#include "graph/operators/control/device_region.hpp"

namespace vellum {
namespace {

class Grouping {
 public:
  Grouping(Graph& graph, const RegionRules& rules)
      : graph_(graph),
        rules_(rules),
        producers_(graph.values.size(), kNone),
        is_read_outside_(graph.values.size(), false),
        levels_(graph.nodes.size(), 0),
        group_(graph.nodes.size()) {
    std::iota(group_.begin(), group_.end(), size_t{0});
  }

  void run() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) visit(i);
    std::map<size_t, std::vector<size_t>> members;  // by their group
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      if (levels_[i] % 2 == 1) members[find(i)].push_back(i);
    std::erase_if(members, [&](const auto& entry) { return !rules_.is_worthwhile(graph_, entry.second); });
    if (members.empty()) return;
    find_outside_reads();
    rebuild(members);
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  size_t find(size_t i) {
    while (group_[i] != i) i = group_[i] = group_[group_[i]];
    return i;
  }

  // Levels are odd for nodes that may be on the device. Nodes of one odd level that read each other are a
  // group: what goes through a host node comes back on a higher level.
  void visit(size_t i) {
    const Node& node = graph_.nodes[i];
    const bool fits = rules_.fits(graph_, node);
    size_t level = fits ? 1 : 0;
    for (const ValueId id : node.inputs) {
      if (id == kNoValue || producers_[id] == kNone) continue;
      const size_t before = levels_[producers_[id]];
      level = std::max(level, before + ((before % 2 == 1) != fits ? 1 : 0));
    }
    levels_[i] = level;
    for (const ValueId id : node.inputs)
      if (fits && id != kNoValue && producers_[id] != kNone && levels_[producers_[id]] == level)
        group_[find(producers_[id])] = find(i);
    for (const ValueId id : node.outputs)
      if (id != kNoValue) producers_[id] = i;
  }

  void find_outside_reads() {
    for (const ValueId id : graph_.outputs) is_read_outside_[id] = true;
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      for (const ValueId id : graph_.nodes[i].inputs)
        if (id != kNoValue && producers_[id] != kNone && find(producers_[id]) != find(i))
          is_read_outside_[id] = true;
  }

  // The nodes in the order of their levels, each group as one.
  void rebuild(const std::map<size_t, std::vector<size_t>>& members) {
    std::unordered_map<size_t, size_t> group_at;  // the first node of a group
    std::vector<bool> in_group(graph_.nodes.size(), false);
    for (const auto& [group, nodes] : members) {
      group_at[nodes.front()] = group;
      for (const size_t i : nodes) in_group[i] = true;
    }
    std::vector<size_t> order(graph_.nodes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) { return levels_[i]; });
    std::vector<Node> nodes;
    for (const size_t i : order) {
      if (const auto found = group_at.find(i); found != group_at.end())
        nodes.push_back(region_of(members.at(found->second)));
      else if (!in_group[i])
        nodes.push_back(graph_.nodes[i]);
    }
    graph_.nodes = std::move(nodes);
  }

  Node region_of(const std::vector<size_t>& nodes) const {
    auto region = std::make_shared<DeviceRegion>();
    Graph& body = region->body;
    Node result;
    result.name = graph_.nodes[nodes.front()].name;
    body.name = result.name;
    body.limits = graph_.limits;
    body.has_integer_weights = graph_.has_integer_weights;
    std::unordered_map<ValueId, ValueId> ids;
    const auto add = [&](ValueId id) {
      const auto [found, is_new] = ids.emplace(id, static_cast<ValueId>(body.values.size()));
      if (is_new) body.values.push_back(graph_.values[id]);
      return found->second;
    };
    for (const size_t i : nodes) {
      Node copy = graph_.nodes[i];
      for (ValueId& id : copy.inputs) {
        const bool is_input = !ids.contains(id) && !graph_.constant(id);
        if (is_input) {
          result.inputs.push_back(id);
          region->is_late.push_back(rules_.has_late_shapes && producers_[id] != kNone);
        }
        id = add(id);
        if (is_input) body.inputs.push_back(id);
      }
      for (ValueId& id : copy.outputs) id = add(id);
      body.nodes.push_back(std::move(copy));
    }
    for (const size_t i : nodes)
      for (const ValueId output : graph_.nodes[i].outputs) {
        if (!is_read_outside_[output]) continue;
        result.outputs.push_back(output);
        body.outputs.push_back(ids.at(output));
      }
    result.op = std::move(region);
    return result;
  }

  Graph& graph_;
  const RegionRules& rules_;
  std::vector<size_t> producers_;      // by value
  std::vector<bool> is_read_outside_;  // by value: by another group or node, or as an output
  std::vector<size_t> levels_, group_;
};

}  // namespace

void group_nodes(Graph& graph, const RegionRules& rules) { Grouping(graph, rules).run(); }

void group_layers(HostTail& tail) {
  const auto has_layer = [](const Graph& graph, std::span<const size_t> nodes) {
    return std::ranges::any_of(nodes, [&](size_t i) {
      return graph.nodes[i].op->type() == "RoiAlign" || is_layer(graph, graph.nodes[i]);
    });
  };
  group_nodes(tail.graph, {fits_region, has_layer, true});
}

}  // namespace vellum

#include "groups.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace vellum::ort {
namespace {

// Returns for each value the node that computes it; the number of nodes for others.
std::vector<size_t> producers(const Graph& graph) {
  std::vector<size_t> producer(graph.values.size(), graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for (const ValueId id : graph.nodes[i].outputs)
      if (id != kNoValue) producer[id] = i;
  return producer;
}

// The level of a node is the greatest number of steps from a taken node to another one on a path to it. A
// path that leaves the taken nodes and returns raises the level, so nodes of one level can run as one.
std::vector<size_t> levels(const Graph& graph, const std::vector<bool>& taken,
                           const std::vector<size_t>& producer) {
  std::vector<size_t> level(graph.nodes.size(), 0);
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for (const ValueId id : graph.nodes[i].inputs) {
      if (id == kNoValue || producer[id] == graph.nodes.size()) continue;
      const size_t before = producer[id];
      level[i] = std::max(level[i], level[before] + (taken[before] && !taken[i] ? 1 : 0));
    }
  return level;
}

class Sets {
 public:
  explicit Sets(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), size_t{0}); }
  size_t root(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  // The smaller index becomes the root.
  void join(size_t a, size_t b) {
    a = root(a), b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<size_t> parent_;
};

}  // namespace

std::vector<std::vector<size_t>> convex_groups(const Graph& graph, const std::vector<bool>& taken) {
  const std::vector<size_t> producer = producers(graph);
  const std::vector<size_t> level = levels(graph, taken, producer);
  Sets sets(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!taken[i]) continue;
    for (const ValueId id : graph.nodes[i].inputs) {
      if (id == kNoValue || producer[id] == graph.nodes.size()) continue;
      const size_t before = producer[id];
      if (taken[before] && level[before] == level[i]) sets.join(before, i);
    }
  }
  std::map<size_t, std::vector<size_t>> by_root;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (taken[i]) by_root[sets.root(i)].push_back(i);
  std::vector<std::vector<size_t>> groups;
  for (auto& [root, group] : by_root) groups.push_back(std::move(group));
  return groups;
}

}  // namespace vellum::ort

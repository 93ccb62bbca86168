#include "kernels/framework/share_pipelines.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace vellum {
namespace {

// The lowering of each group of nodes, and the total of their predicted times.
struct Selection {
  std::vector<size_t> taken;
  double us = 0;
};

class Sharing {
 public:
  explicit Sharing(const std::vector<std::vector<NodeLowering>>& lowerings) : lowerings_(lowerings) {}

  std::set<size_t> pipelines_of(const Selection& selection) const {
    std::set<size_t> pipelines;
    for (size_t n = 0; n < lowerings_.size(); ++n)
      pipelines.merge(std::set(lowering(selection, n).pipelines));
    return pipelines;
  }

  // Returns a selection that does not need `pipeline`. Nodes that need it take other lowerings, whose
  // pipelines are all in `available`. Returns nothing if a node has no such lowering.
  std::optional<Selection> without(size_t pipeline, Selection selection, std::set<size_t> available) const {
    available.erase(pipeline);
    for (size_t n = 0; n < lowerings_.size(); ++n) {
      if (!lowering(selection, n).pipelines.contains(pipeline)) continue;
      std::optional<size_t> best;
      for (size_t w = 0; w < lowerings_[n].size(); ++w)
        if (std::ranges::includes(available, lowerings_[n][w].pipelines) &&
            (!best || lowerings_[n][w].us < lowerings_[n][*best].us))
          best = w;
      if (!best) return std::nullopt;
      selection.us += lowerings_[n][*best].us - lowering(selection, n).us;
      selection.taken[n] = *best;
    }
    return selection;
  }

  // Returns the cheapest selection with one pipeline less.
  std::optional<Selection> with_one_less(const Selection& selection,
                                         const std::set<size_t>& available) const {
    std::optional<Selection> best;
    for (const size_t pipeline : pipelines_of(selection))
      if (std::optional<Selection> found = without(pipeline, selection, available);
          found && (!best || found->us < best->us))
        best = std::move(found);
    return best;
  }

  // Returns a selection with one more pipeline that makes two or more pipelines unnecessary.
  std::optional<Selection> with_another(const Selection& selection, double most_us) const {
    const std::set<size_t> present = pipelines_of(selection);
    std::optional<Selection> best;
    size_t fewest = present.size();
    for (const size_t pipeline : all_pipelines()) {
      if (present.contains(pipeline)) continue;
      std::set<size_t> available = present;
      available.insert(pipeline);
      Selection found = selection;
      while (std::optional<Selection> less = with_one_less(found, available)) {
        if (less->us > most_us) break;
        found = std::move(*less);
        available = pipelines_of(found);
        available.insert(pipeline);
      }
      const size_t count = pipelines_of(found).size();
      if (count > fewest || (count == fewest && (!best || found.us >= best->us))) continue;
      fewest = count;
      best = std::move(found);
    }
    return fewest < present.size() ? best : std::nullopt;
  }

 private:
  const NodeLowering& lowering(const Selection& selection, size_t n) const {
    return lowerings_[n][selection.taken[n]];
  }

  std::set<size_t> all_pipelines() const {
    std::set<size_t> pipelines;
    for (const std::vector<NodeLowering>& lowerings : lowerings_)
      for (const NodeLowering& lowering : lowerings)
        pipelines.insert(lowering.pipelines.begin(), lowering.pipelines.end());
    return pipelines;
  }

  const std::vector<std::vector<NodeLowering>>& lowerings_;
};

}  // namespace

std::vector<size_t> share_pipelines(const std::vector<std::vector<NodeLowering>>& lowerings, double most_us) {
  // Nodes that need the same pipelines take the same lowering.
  std::map<std::vector<std::set<size_t>>, size_t> group_of_pipelines;
  std::vector<std::vector<NodeLowering>> groups;
  std::vector<size_t> group_of_node;
  for (const std::vector<NodeLowering>& of_node : lowerings) {
    std::vector<std::set<size_t>> pipelines;
    for (const NodeLowering& lowering : of_node) pipelines.push_back(lowering.pipelines);
    const auto [group, is_new] = group_of_pipelines.try_emplace(std::move(pipelines), groups.size());
    group_of_node.push_back(group->second);
    if (is_new)
      groups.push_back(of_node);
    else
      for (size_t w = 0; w < of_node.size(); ++w) groups[group->second][w].us += of_node[w].us;
  }
  const Sharing sharing(groups);
  Selection selection{std::vector<size_t>(groups.size(), 0)};
  for (bool changed = true; changed;) {
    std::optional<Selection> next = sharing.with_one_less(selection, sharing.pipelines_of(selection));
    if (!next || next->us > most_us) next = sharing.with_another(selection, most_us);
    changed = next.has_value();
    if (changed) selection = std::move(*next);
  }
  std::vector<size_t> taken;
  for (const size_t group : group_of_node) taken.push_back(selection.taken[group]);
  return taken;
}

}  // namespace vellum

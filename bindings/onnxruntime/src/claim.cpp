#include "claim.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "api/impl.hpp"
#include "groups.hpp"
#include "import/names.hpp"
#include "probe.hpp"

namespace vellum::ort {
namespace {

constexpr size_t kSmallestPart = 3;  // nodes of a part that is not the whole network

class Claimer {
 public:
  Claimer(const Network& network, const Device& device, const ProviderOptions& options)
      : network_(network), device_(device), options_(options), taken_(network.graph.nodes.size()) {
    claim_.reasons = network.refusals;
    for (size_t i = 0; i < taken_.size(); ++i) taken_[i] = network.graph.nodes[i].op != nullptr;
    on_cpu_ = impl(device)->context->caps().type == DeviceType::cpu;
  }

  Claim claim() {
    refuse_late_nodes();
    // Each round refuses at least one node.
    while (refuse_some()) {
    }
    if (options_.claim == Claims::whole) require_all();
    claim_.parts = convex_groups(network_.graph, taken_);
    return std::move(claim_);
  }

 private:
  void refuse(size_t node, const std::string& why) {
    taken_[node] = false;
    if (claim_.reasons[node].empty()) claim_.reasons[node] = why;
  }

  // A node that stays with the runtime may compute results whose shapes only a run determines. Nodes that
  // read them are not claimed, because a session would be prepared for each run.
  void refuse_late_nodes() {
    static const std::set<std::string, std::less<>> kLate{
        "NonMaxSuppression",  "NonZero",        "Unique", "Compress", "Loop", "If", "Scan", "SequenceAt",
        "ConcatFromSequence", "SplitToSequence"};
    std::vector<bool> late(network_.graph.values.size(), false);
    for (size_t i = 0; i < taken_.size(); ++i) {
      const Node& node = network_.graph.nodes[i];
      const bool begins = kLate.contains(network_.types[i]);
      const bool reads =
          std::ranges::any_of(node.inputs, [&](ValueId id) { return id != kNoValue && late[id]; });
      if (!begins && !reads) continue;
      refuse(i, begins ? "only a run determines the shapes of its results"
                       : "only a run determines the shapes of its inputs");
      for (const ValueId id : node.outputs)
        if (id != kNoValue) late[id] = !has_fixed_shape(id);
    }
  }

  bool has_fixed_shape(ValueId id) const {
    const auto& dimensions = network_.dimensions[id];
    return dimensions && std::ranges::all_of(*dimensions, [](const Dimension& dimension) {
             return dimension.size != kUnknownDim;
           });
  }

  // Returns whether a node was refused.
  bool refuse_some() {
    bool any = false;
    for (const std::vector<size_t>& group : convex_groups(network_.graph, taken_))
      any = refuse_in(group) || any;
    return any;
  }

  bool refuse_in(const std::vector<size_t>& group) {
    const bool whole = group.size() == taken_.size();
    if (!whole && group.size() < kSmallestPart)
      return refuse_all(group,
                        "a part of " + std::to_string(group.size()) + " nodes is not worth a transfer");
    const Probe& found = probed(group);
    if (!found.failure.empty()) return refuse_all(group, found.failure);
    if (!found.refused.empty()) return refuse_named(group, found.refused);
    if (whole || options_.claim == Claims::all) return false;
    if (found.dispatches == 0) return refuse_all(group, "its part has no work for the device");
    if (!on_cpu_ && found.times.device_us > found.times.host_us)
      return refuse_all(group, "its part is " + plugin::describe(found.times));
    return false;
  }

  bool refuse_all(const std::vector<size_t>& group, const std::string& why) {
    for (const size_t node : group) refuse(node, why);
    return true;
  }

  bool refuse_named(const std::vector<size_t>& group, const std::map<std::string, std::string>& refused) {
    bool any = false;
    for (const size_t i : group) {
      const auto found = refused.find(network_.graph.nodes[i].name);
      if (found == refused.end()) continue;
      refuse(i, found->second);
      any = true;
    }
    // A pass gave the node another name.
    return any || refuse_all(group, refused.begin()->first + ": " + refused.begin()->second);
  }

  const Probe& probed(const std::vector<size_t>& group) {
    auto& found = probes_[group];
    if (!found) {
      std::vector<bool> part(taken_.size(), false);
      for (const size_t i : group) part[i] = true;
      try {
        found = probe(network_, part_of(network_, part), device_, options_.session);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::unsupported) throw;
        found = Probe{};
        found->failure = error.what();
      }
    }
    return *found;
  }

  void require_all() {
    if (std::ranges::find(taken_, false) == taken_.end()) return;
    for (size_t i = 0; i < taken_.size(); ++i) refuse(i, "with claim=whole all nodes are claimed or none");
  }

  const Network& network_;
  const Device& device_;
  const ProviderOptions& options_;
  std::vector<bool> taken_;
  bool on_cpu_ = false;
  Claim claim_;
  std::map<std::vector<size_t>, std::optional<Probe>> probes_;
};

}  // namespace

Claim claim_nodes(const Network& network, const Device& device, const ProviderOptions& options) {
  return Claimer(network, device, options).claim();
}

std::string summary(const Network& network, const Claim& claim) {
  size_t nodes = 0;
  for (const auto& part : claim.parts) nodes += part.size();
  return "Vellum claims " + std::to_string(nodes) + " of " + std::to_string(network.graph.nodes.size()) +
         " nodes in " + std::to_string(claim.parts.size()) + (claim.parts.size() == 1 ? " part" : " parts");
}

std::string report(const Network& network, const Claim& claim) {
  constexpr size_t kNamed = 5;
  std::map<std::string, std::vector<std::string>> by_reason;
  for (size_t i = 0; i < claim.reasons.size(); ++i)
    if (!claim.reasons[i].empty())
      by_reason[claim.reasons[i]].push_back(network.types[i] + " " +
                                            quoted_name(network.graph.nodes[i].name));
  std::string text = summary(network, claim) + "\n";
  for (const auto& [reason, nodes] : by_reason) {
    text += "not claimed: ";
    for (size_t i = 0; i < std::min(nodes.size(), kNamed); ++i) text += (i ? ", " : "") + nodes[i];
    if (nodes.size() > kNamed) text += " and " + std::to_string(nodes.size() - kNamed) + " more";
    text += ": " + reason + "\n";
  }
  return text;
}

}  // namespace vellum::ort

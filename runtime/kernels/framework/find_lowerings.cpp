// ProgramBuilder::find_lowerings(): lowers a node with all kernel candidates that are predicted to be about
// as quick as the best, to find the pipelines of each (share_pipelines.hpp).
#include "kernels/framework/program_builder.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// The maximum number of combinations of candidates that are tried for a node with several choices.
constexpr size_t kMostLowerings = 32;

}  // namespace

const std::vector<KernelName>* ProgramBuilder::wanted_kernels() const {
  if (!wanted_.empty()) return &wanted_;
  if (!options_.chosen) return nullptr;
  const std::vector<KernelName>& chosen =
      (*options_.chosen)[static_cast<size_t>(current_ - graph_.nodes.data())];
  return chosen.empty() ? nullptr : &chosen;
}

NodeLowering ProgramBuilder::lowering_since(const Checkpoint& before) {
  NodeLowering lowering;
  for (const NodeChoice& choice : node_choices_) {
    lowering.kernels.push_back(choice.taken);
    lowering.us += choice.us;
  }
  for (size_t t = before.tasks; t < program_.tasks.size(); ++t) {
    if (!program_.tasks[t].dispatch) continue;
    const Dispatch& dispatch = *program_.tasks[t].dispatch;
    const auto [pipeline, is_new] = pipelines_.try_emplace(
        {dispatch.shader, dispatch.defines, dispatch.workgroup_size, dispatch.subgroup_size},
        pipelines_.size());
    lowering.pipelines.insert(pipeline->second);
  }
  return lowering;
}

void ProgramBuilder::find_lowerings(const Node& node, const Checkpoint& before) {
  std::vector<NodeLowering>& lowerings = lowerings_.emplace_back();
  lowerings.push_back(lowering_since(before));
  const std::vector<NodeChoice> first = node_choices_;
  std::vector<size_t> taken(first.size(), 0);  // 0: as at first, i: as_quick[i - 1]
  const auto next = [&] {
    for (size_t i = 0; i < taken.size(); ++i) {
      if (++taken[i] <= first[i].as_quick.size()) return true;
      taken[i] = 0;
    }
    return false;
  };
  bool is_lowered_again = false;
  const auto lower_again = [&](std::vector<KernelName> kernels) {
    is_lowered_again = true;
    restore(before);
    node_choices_.clear();
    wanted_ = std::move(kernels);
    lower_node_once(node);
  };
  while (lowerings.size() < kMostLowerings && next()) {
    std::vector<KernelName> kernels;
    for (size_t i = 0; i < first.size(); ++i)
      kernels.push_back(taken[i] == 0 ? first[i].taken : first[i].as_quick[taken[i] - 1]);
    try {
      lower_again(std::move(kernels));
      if (!has_endless_loops(before.tasks)) lowerings.push_back(lowering_since(before));
    } catch (const Error&) {  // beyond a limit of the device
    }
  }
  if (is_lowered_again) lower_again(lowerings.front().kernels);
  wanted_.clear();
}

}  // namespace vellum

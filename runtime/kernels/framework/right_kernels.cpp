// Lowers without the kernels whose results are wrong on the device, including kernels with too long loops. It
// tries other candidates, then other storage, then the host.
#include <algorithm>

#include "kernels/framework/program_builder.hpp"
#include "vellum/error.hpp"

namespace vellum {

namespace {

// The number of candidates that are tried for a node in one storage. If all of these are wrong, further
// candidates of the same shaders are unlikely to be right.
constexpr int kMostAttempts = 6;

bool has_too_long_loops(const DeviceCaps& caps, const Task& task) {
  return task.dispatch && task.dispatch->iterations > caps.max_loop_iterations;
}

}  // namespace

ProgramBuilder::Checkpoint ProgramBuilder::checkpoint() const {
  return {program_.tasks.size(),
          program_.tensors.size(),
          program_.warnings.size(),
          options_.choices ? options_.choices->size() : 0,
          value_tensors_,
          counters_,
          ranges_};
}

void ProgramBuilder::restore(const Checkpoint& checkpoint) {
  program_.tasks.resize(checkpoint.tasks);
  program_.tensors.resize(checkpoint.tensors);
  program_.warnings.resize(checkpoint.warnings);
  if (options_.choices) options_.choices->resize(checkpoint.choices);
  value_tensors_ = checkpoint.value_tensors;
  counters_ = checkpoint.counters;
  ranges_ = checkpoint.ranges;
}

bool ProgramBuilder::has_endless_loops(size_t first_task) const {
  return std::any_of(program_.tasks.begin() + static_cast<std::ptrdiff_t>(first_task), program_.tasks.end(),
                     [&](const Task& task) { return has_too_long_loops(caps_, task); });
}

bool ProgramBuilder::used_wrong_kernel(size_t first_task) {
  bool wrong = false;
  for (size_t i = first_task; i < program_.tasks.size(); ++i)
    if (has_too_long_loops(caps_, program_.tasks[i])) {
      longest_loops_ = std::max(longest_loops_, program_.tasks[i].dispatch->iterations);
      wrong = true;
    }
  for (size_t i = first_task; options_.wrong && i < program_.tasks.size(); ++i) {
    if (!program_.tasks[i].dispatch) continue;
    const KernelId id = kernel_id(*program_.tasks[i].dispatch);
    const auto found = options_.wrong->find(id.text());
    if (found == options_.wrong->end()) continue;
    avoided_.emplace(id.description(), found->second.why);
    wrong = true;
    converts_wrongly_ |= is_conversion(id);
  }
  return wrong;
}

// Excludes one more candidate. Successive calls enumerate the combinations of candidates of all choices of
// the node; the last choice changes first. Returns false if there is no further combination.
bool ProgramBuilder::avoid_a_candidate() {
  for (size_t i = node_choices_.size(); i-- > 0;) {
    avoided_candidates_.resize(std::max(avoided_candidates_.size(), i + 1));
    if (node_choices_[i].candidates <= 1) continue;
    avoided_candidates_[i].insert(node_choices_[i].taken.text());
    avoided_candidates_.resize(i + 1);
    return true;
  }
  return false;
}

// Lowers the node with the first right combination of candidates, the best first. Returns false, and leaves
// the program as it was, if there is none. A candidate that replaces a wrong one may exceed a limit of the
// device.
bool ProgramBuilder::lower_with_right_candidate(const Node& node, bool is_replacement) {
  const Checkpoint before = checkpoint();
  avoided_candidates_.clear();
  bool more = true;
  for (int attempt = 1; more; ++attempt, is_replacement = true) {
    node_choices_.clear();
    try {
      lower_node_once(node);
      if (!used_wrong_kernel(before.tasks)) {
        avoided_candidates_.clear();
        return true;
      }
    } catch (const Error&) {
      if (!is_replacement) throw;
    }
    restore(before);
    more = attempt < kMostAttempts && avoid_a_candidate();
  }
  avoided_candidates_.clear();
  return false;
}

void ProgramBuilder::lower_with_right_kernels(const Node& node) {
  converts_wrongly_ = false;
  longest_loops_ = 0;
  if (lower_with_right_candidate(node, false)) return;
  std::vector<StorageChoice> storages = options_.value_storages;
  for (const StorageChoice other : {StorageChoice::buffer, StorageChoice::image2d}) {
    options_.value_storages.resize(graph_.values.size(), options_.storage);
    for (const ValueId id : node.outputs)
      if (id != kNoValue) options_.value_storages[id] = other;
    if (lower_with_right_candidate(node, true)) return;
  }
  options_.value_storages = std::move(storages);
  if (converts_wrongly_ && may_use_images_) throw ConversionIsWrong(describe(node));
  const size_t first_task = program_.tasks.size();
  add_host_partition(node, longest_loops_ == 0
                               ? std::string("the device computes wrong results with every kernel for it")
                               : "its kernel would run " + std::to_string(longest_loops_) +
                                     " iterations in an invocation; the device's driver ends loops after " +
                                     std::to_string(caps_.max_loop_iterations));
  if (used_wrong_kernel(first_task)) throw ConversionIsWrong(describe(node));
}

void ProgramBuilder::lower_or_run_on_host(const Node& node) {
  const Checkpoint before = checkpoint();
  longest_loops_ = 0;
  if (options_.wrong_nodes == WrongNodes::on_host) {
    node_choices_.clear();
    lower_node_once(node);
    if (!used_wrong_kernel(before.tasks)) return;
    restore(before);
  }
  add_host_partition(node, "the device computes wrong results with the only kernel that is there for it");
  if (used_wrong_kernel(before.tasks)) throw ConversionIsWrong(describe(node));
}

void ProgramBuilder::warn_of_avoided_kernels() {
  for (const auto& [kernel, why] : avoided_)
    program_.warnings.push_back(wrong_kernel_warning(caps_, kernel, why));
}

}  // namespace vellum

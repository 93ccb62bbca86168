#include "plan/views.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "plan/lifetimes.hpp"

namespace vellum {
namespace {

constexpr size_t kMostTrials = 64;  // each plans the whole program

// Facts of a root before anything becomes a view. Aliases use those of their root.
struct Facts {
  TensorId root = kNoTensor;
  size_t writers = 0;    // tasks
  bool on_host = false;  // a host partition reads or writes it
  // Written by copies alone, each but the last of whole groups of four elements, and by the rest of their
  // concatenation.
  bool is_joined = true;
};

const std::optional<PlainCopy>* copy_of(const Task& task) {
  return task.dispatch && task.dispatch->copy ? &task.dispatch->copy : nullptr;
}

// Part of a concatenation, in texels that no other part is in.
bool joins_a_part(const Task& task) {
  return task.dispatch && task.dispatch->op == "Concat" && task.dispatch->shader == "copy_region";
}

std::vector<Facts> find_facts(const Program& program) {
  std::vector<Facts> facts(program.tensors.size());
  for (TensorId id = 0; id < facts.size(); ++id) facts[id].root = program.root(id);
  for (const Task& task : program.tasks)
    visit_accesses(task, [&](TensorId id, Access access) {
      Facts& of = facts[program.root(id)];
      of.on_host |= task.host.has_value();
      if (access == Access::read) return;
      ++of.writers;
      const std::optional<PlainCopy>* copy = copy_of(task);
      of.is_joined &= copy ? (*copy)->to_offset % (4 * size_of(program.tensors[id].desc.element)) == 0
                           : access == Access::write && joins_a_part(task);
    });
  for (Facts& of : facts) of.is_joined &= of.writers > 1;
  return facts;
}

// The view that replaces a copy.
struct View {
  TensorId view = kNoTensor, of = kNoTensor;
  uint64_t offset = 0;
};

class Views {
 public:
  Views(Program& program, uint64_t alignment)
      : program_(program), alignment_(alignment), facts_(find_facts(program)) {}

  // Copies that only save memory together: all those into, or out of, one tensor.
  std::vector<std::vector<size_t>> groups() const {
    std::map<std::pair<bool, TensorId>, std::vector<size_t>> found;
    for (size_t t = 0; t < program_.tasks.size(); ++t) {
      const std::optional<PlainCopy>* copy = copy_of(program_.tasks[t]);
      if (!copy) continue;
      const bool joins = facts((*copy)->to).is_joined;
      found[{joins, facts(joins ? (*copy)->to : (*copy)->from).root}].push_back(t);
    }
    std::vector<std::vector<size_t>> result;
    result.reserve(found.size());
    for (auto& [whole, tasks] : found) result.push_back(std::move(tasks));
    std::sort(result.begin(), result.end());
    return result;
  }

  // Removes those of the copies that views can replace.
  void remove(const std::vector<size_t>& tasks) {
    for (const size_t t : tasks) {
      const std::optional<View> view = view_instead_of(t);
      if (!view) continue;
      VirtualTensor& tensor = program_.tensors[view->view];
      tensor.alias_of = view->of;
      tensor.alias_offset = view->offset;
      removed_.push_back({t, view->view, std::move(program_.tasks[t].dispatch)});
      program_.tasks[t].dispatch.reset();
    }
  }

  size_t removed() const { return removed_.size(); }

  // Restores the last removed copies until only `count` are removed.
  void restore(size_t count) {
    while (removed_.size() > count) {
      Removed& last = removed_.back();
      VirtualTensor& tensor = program_.tensors[last.view];
      tensor.alias_of = kNoTensor;
      tensor.alias_offset = 0;
      program_.tasks[last.task].dispatch = std::move(last.dispatch);
      removed_.pop_back();
    }
  }

 private:
  struct Removed {
    size_t task;
    TensorId view;
    std::optional<Dispatch> dispatch;
  };

  const Facts& facts(TensorId id) const { return facts_[facts_[id].root]; }

  // The source becomes a view of the whole.
  std::optional<View> part_of_whole(const PlainCopy& copy) const {
    const TensorId part = program_.root(copy.from), whole = program_.root(copy.to);
    const uint64_t part_bytes = program_.tensors[part].desc.byte_size();
    const uint64_t whole_bytes = program_.tensors[copy.to].desc.byte_size();
    if (part == whole || copy.from_offset != 0 || program_.offset(copy.from) != 0) return std::nullopt;
    // All of it is copied; padding to a group of four may only follow the last section.
    const bool all = part_bytes == copy.bytes || copy.to_offset + part_bytes == whole_bytes;
    if (!all || part_bytes != program_.tensors[copy.from].desc.byte_size() || part_bytes < copy.bytes)
      return std::nullopt;
    if (!has_planned_memory(program_.tensors[part]) || !has_planned_memory(program_.tensors[whole]))
      return std::nullopt;
    if (facts(part).on_host || copy.to_offset % alignment_ != 0) return std::nullopt;
    return View{part, copy.to, copy.to_offset};
  }

  // The destination becomes a view of the source.
  std::optional<View> part_left_in_whole(const PlainCopy& copy) const {
    const VirtualTensor &part = program_.tensors[copy.to], &whole = program_.tensors[copy.from];
    if (part.alias_of != kNoTensor || program_.root(copy.from) == copy.to || copy.to_offset != 0)
      return std::nullopt;
    const TensorRole role = program_.tensors[program_.root(copy.from)].role;
    if (!has_planned_memory(part) || role == TensorRole::weight) return std::nullopt;
    const uint64_t end = copy.from_offset + part.desc.byte_size();
    if (part.desc.byte_size() < copy.bytes || end > whole.desc.byte_size()) return std::nullopt;
    if (facts(copy.to).writers != 1 || facts(copy.to).on_host || copy.from_offset % alignment_ != 0)
      return std::nullopt;
    return View{copy.to, copy.from, copy.from_offset};
  }

  std::optional<View> view_instead_of(size_t task) const {
    const std::optional<PlainCopy>* copy = copy_of(program_.tasks[task]);
    if (!copy || (*copy)->stays) return std::nullopt;
    return facts((*copy)->to).is_joined ? part_of_whole(**copy) : part_left_in_whole(**copy);
  }

  Program& program_;
  const uint64_t alignment_;
  const std::vector<Facts> facts_;  // per tensor
  std::vector<Removed> removed_;
};

}  // namespace

size_t replace_copies_by_views(Program& program, uint64_t alignment,
                               const std::function<uint64_t(const Program&)>& bytes) {
  Views views(program, alignment);
  const std::vector<std::vector<size_t>> groups = views.groups();
  if (groups.empty()) return 0;
  uint64_t least = bytes(program);
  for (const auto& group : groups) views.remove(group);
  if (views.removed() > 0 && bytes(program) > least) {
    views.restore(0);
    // Many groups are tried several at a time.
    const size_t together = (groups.size() + kMostTrials - 1) / kMostTrials;
    for (size_t i = 0; i < groups.size(); i += together) {
      const size_t before = views.removed();
      for (size_t j = i; j < std::min(i + together, groups.size()); ++j) views.remove(groups[j]);
      if (views.removed() == before) continue;
      const uint64_t now = bytes(program);
      if (now > least) views.restore(before);
      least = std::min(least, now);
    }
  }
  std::erase_if(program.tasks, [](const Task& task) { return !task.dispatch && !task.host; });
  return views.removed();
}

}  // namespace vellum

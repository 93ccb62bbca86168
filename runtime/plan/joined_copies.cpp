#include "plan/joined_copies.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plan/lifetimes.hpp"

namespace vellum {
namespace {

constexpr size_t kMostJoinTrials = 64;  // each plans the whole program

// The tasks of the parts of one join, in the order of the program.
using PartTasks = std::vector<size_t>;

std::vector<PartTasks> find_parts(const Program& program) {
  std::map<const Dispatch*, size_t> numbers;
  std::vector<PartTasks> found;
  for (size_t t = 0; t < program.tasks.size(); ++t) {
    const std::optional<Dispatch>& dispatch = program.tasks[t].dispatch;
    if (!dispatch || !dispatch->together) continue;
    const auto [number, is_new] = numbers.try_emplace(dispatch->together.get(), found.size());
    if (is_new) found.emplace_back();
    found[number->second].push_back(t);
  }
  return found;
}

// Returns whether `task` writes a tensor that `part` reads, or accesses one that it writes.
bool conflicts(const Program& program, const Task& task, const Dispatch& part) {
  bool found = false;
  visit_accesses(task, [&](TensorId id, Access access) {
    for (const Binding& binding : part.bindings)
      if (program.root(binding.tensor) == program.root(id))
        found |= access != Access::read || binding.access != Access::read;
  });
  return found;
}

// Returns whether a part may not move to the last one: a task between them accesses the whole, or writes over
// what was copied.
bool is_used_between(const Program& program, const PartTasks& parts) {
  for (const size_t part : parts)
    for (size_t t = part + 1; t < parts.back(); ++t)
      if (!std::ranges::binary_search(parts, t) &&
          conflicts(program, program.tasks[t], *program.tasks[part].dispatch))
        return true;
  return false;
}

// Returns the program with these parts replaced by their joins, where the last part is.
Program with_joins(const Program& program, std::span<const PartTasks> joins) {
  Program result = program;
  for (const PartTasks& parts : joins) {
    for (const size_t part : parts) result.tasks[part].dispatch.reset();
    result.tasks[parts.back()].dispatch = *program.tasks[parts.back()].dispatch->together;
  }
  std::erase_if(result.tasks, [](const Task& task) { return !task.dispatch && !task.host; });
  return result;
}

// Returns whether a part is no longer copied, because it became a view of the whole.
bool has_views(const Program& program, const PartTasks& parts) {
  return parts.size() + 1 < program.tasks[parts.back()].dispatch->together->bindings.size();
}

// Returns the joins that may be one dispatch each.
std::vector<PartTasks> find_joins(const Program& program) {
  std::vector<PartTasks> joins = find_parts(program);
  std::erase_if(joins, [&](const PartTasks& parts) {
    return has_views(program, parts) || is_used_between(program, parts);
  });
  return joins;
}

}  // namespace

bool has_joins(const Program& program) {
  return std::ranges::any_of(program.tasks,
                             [](const Task& task) { return task.dispatch && task.dispatch->apart; });
}

void split_joins(Program& program) {
  std::vector<Task> tasks;
  for (Task& task : program.tasks) {
    if (!task.dispatch || !task.dispatch->apart) {
      tasks.push_back(std::move(task));
      continue;
    }
    const auto apart = std::exchange(task.dispatch->apart, nullptr);
    const auto together = std::make_shared<const Dispatch>(std::move(*task.dispatch));
    for (const Dispatch& part : *apart) {
      tasks.push_back({part, std::nullopt});
      tasks.back().dispatch->together = together;
    }
  }
  program.tasks = std::move(tasks);
}

size_t join_copies(Program& program, const std::function<uint64_t(Program&)>& bytes) {
  std::vector<PartTasks> joins = find_joins(program);
  if (joins.empty()) return 0;
  uint64_t least = bytes(program);
  // Many joins are tried several at a time.
  const size_t at_once = (joins.size() + kMostJoinTrials - 1) / kMostJoinTrials;
  size_t joined = 0;
  for (size_t first = 0; first < joins.size();) {
    const auto some = std::span(joins).subspan(first, std::min(at_once, joins.size() - first));
    Program trial = with_joins(program, some);
    const uint64_t now = bytes(trial);
    if (now > least) {
      first += some.size();
      continue;
    }
    least = now;
    joined += some.size();
    program = std::move(trial);
    joins = find_joins(program);  // the tasks have other numbers; `first` joins stay apart
  }
  return joined;
}

void forget_alternatives(Program& program) {
  for (Task& task : program.tasks)
    if (task.dispatch) task.dispatch->apart = nullptr, task.dispatch->together = nullptr;
}

}  // namespace vellum

#include "plan/order.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "plan/in_place.hpp"
#include "plan/lifetimes.hpp"
#include "platform/mix.hpp"
#include "program/byte_range.hpp"

namespace vellum {
namespace {

constexpr size_t kWidest = 64;                  // states that are kept at each step
constexpr size_t kWidestForProof = 8192;        // the same, where only a lower peak is looked for
constexpr uint64_t kMostSteps = 1'000'000;      // tasks tried
constexpr uint64_t kMostStepsForProof = 200'000;  // of all searches for a lower peak
constexpr size_t kFewest = 8;                   // tasks tried at each step after that
constexpr uint64_t kMostCopied = 256ull << 20;  // bytes of states

struct Span {
  TensorId root;
  ByteRange bytes;
};

Span span_of(const Program& program, TensorId id) {
  const TensorId root = program.root(id);
  if (program.tensors[root].desc.storage != Storage::buffer) return {root, {0, 1}};
  const uint64_t begin = program.offset(id);
  return {root, {begin, begin + program.tensors[id].desc.byte_size()}};
}

struct Use {
  size_t task;
  ByteRange bytes;
};

// The accesses of one root so far. Reads are apart, because a read does not depend on them: a tensor may have
// thousands.
struct Uses {
  std::vector<Use> reads, writes;
};

// A task as the search sees it.
struct Step {
  std::vector<size_t> followers;  // tasks that depend on it
  std::vector<size_t> tensors;    // planned roots that it reads or writes, counted from 0, each once
  std::vector<std::pair<size_t, size_t>> in_place;
};

struct Problem {
  std::vector<Step> steps;
  std::vector<uint32_t> waits;   // per task: the number of its dependencies
  std::vector<uint64_t> bytes;   // per planned root
  std::vector<uint32_t> uses;    // per planned root: tasks that read or write it
  std::vector<uint64_t> labels;  // per task: a random number, for hashes of sets
};

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;  // 2^64 divided by the golden ratio, so that task 0 has a label

Problem make_problem(const Program& program, const MemoryRules& rules, bool in_place) {
  Problem problem;
  const size_t count = program.tasks.size();
  problem.steps.resize(count);
  const std::vector<std::vector<size_t>> before = dependencies(program);
  std::unordered_map<TensorId, size_t> index;
  const std::vector<Lifetime> lives = lifetimes(program);
  for (size_t t = 0; t < count; ++t) {
    problem.waits.push_back(static_cast<uint32_t>(before[t].size()));
    for (const size_t earlier : before[t]) problem.steps[earlier].followers.push_back(t);
    problem.labels.push_back(platform::mix(t + kGolden));
    visit_accesses(program.tasks[t], [&](TensorId id, Access) {
      const TensorId root = program.root(id);
      if (!lives[root].planned()) return;
      const auto [entry, is_new] = index.try_emplace(root, problem.bytes.size());
      if (is_new) {
        problem.bytes.push_back(rules.need(object_desc(program.tensors[root].desc)).bytes);
        problem.uses.push_back(0);
      }
      std::vector<size_t>& tensors = problem.steps[t].tensors;
      if (std::find(tensors.begin(), tensors.end(), entry->second) != tensors.end()) return;
      tensors.push_back(entry->second);
      ++problem.uses[entry->second];
    });
    if (!in_place) continue;
    for (const InPlacePair& pair : in_place_pairs(program, program.tasks[t]))
      problem.steps[t].in_place.emplace_back(index.at(pair.from), index.at(pair.to));
  }
  return problem;
}

// A set of completed tasks, and the state of the rest.
struct State {
  uint64_t set = 0;  // hash
  uint64_t live = 0, peak = 0;
  size_t history = 0;
  std::vector<uint32_t> waits, uses;
  std::vector<size_t> ready;  // ascending
};

// The successor of a state after one more task.
struct Successor {
  size_t state = 0, task = 0;
  uint64_t set = 0, live = 0, peak = 0;
};

// The goal of a search, and its limits.
struct SearchLimits {
  uint64_t below = UINT64_MAX;  // peaks
  size_t widest = kWidest;
  uint64_t steps = kMostSteps;
};

class BeamSearch {
 public:
  BeamSearch(const Problem& problem, const SearchLimits& limits) : problem_(problem), limits_(limits) {}

  // Nothing if there is no such order, or it was not found.
  std::optional<LowPeakOrder> run() {
    const size_t count = problem_.steps.size();
    std::vector<State> beam(1);
    beam[0].waits = problem_.waits;
    beam[0].uses = problem_.uses;
    for (size_t t = 0; t < count; ++t)
      if (problem_.waits[t] == 0) beam[0].ready.push_back(t);
    for (size_t step = 0; step < count; ++step) {
      std::vector<Successor> successors = extend(beam, count - step);
      std::erase_if(successors, [&](const Successor& s) { return s.peak >= limits_.below; });
      if (successors.empty()) return std::nullopt;
      keep_best(successors, width(beam, count - step));
      std::vector<State> next;
      next.reserve(successors.size());
      // A state is copied for each successor but its last, to which it is moved: a beam of one copies
      // nothing.
      std::vector<size_t> last(beam.size(), 0);
      for (size_t i = 0; i < successors.size(); ++i) last[successors[i].state] = i;
      for (size_t i = 0; i < successors.size(); ++i) {
        State& state = beam[successors[i].state];
        next.push_back(i == last[successors[i].state] ? done(std::move(state), successors[i])
                                                      : done(State(state), successors[i]));
      }
      beam = std::move(next);
    }
    return LowPeakOrder{order_of(beam[0].history, count), beam[0].peak, bound(beam[0].peak)};
  }

  // No order that the search would have found without its limits on work has a lower peak than this, where
  // `found` is the lowest that it found, or looked for.
  uint64_t bound(uint64_t found) const { return std::min(found, least_dropped_); }
  uint64_t tried() const { return tried_; }

 private:
  struct Past {
    size_t before, task;
  };

  // Each remaining step gets an equal share of the remaining work.
  size_t width(const std::vector<State>& beam, size_t steps_left) const {
    size_t ready = 1;
    for (const State& state : beam) ready = std::max(ready, state.ready.size());
    const uint64_t by_steps = (limits_.steps - std::min(limits_.steps, tried_)) / (steps_left * ready);
    const uint64_t state_bytes = 4 * (problem_.waits.size() + problem_.uses.size()) + 64;
    const uint64_t by_bytes = kMostCopied / (problem_.steps.size() * state_bytes);
    return std::clamp<size_t>(std::min(by_steps, by_bytes), 1, limits_.widest);
  }

  // Once the work is spent, only the first of many independent tasks are tried, in the given order.
  std::vector<Successor> extend(const std::vector<State>& beam, size_t steps_left) {
    const size_t most =
        std::max<size_t>(kFewest, (limits_.steps - std::min(limits_.steps, tried_)) / steps_left);
    std::vector<Successor> successors;
    for (size_t s = 0; s < beam.size(); ++s) {
      const std::vector<size_t>& ready = beam[s].ready;
      const bool spent = tried_ + ready.size() > limits_.steps;
      for (size_t i = 0; i < ready.size() && (!spent || i < most); ++i)
        successors.push_back(successor(beam[s], s, ready[i]));
      if (spent && most < ready.size()) least_dropped_ = std::min(least_dropped_, beam[s].peak);
    }
    tried_ += successors.size();
    return successors;
  }

  Successor successor(const State& state, size_t index, size_t task) const {
    const Step& step = problem_.steps[task];
    uint64_t during = state.live, after = state.live;
    for (const size_t tensor : step.tensors) {
      const bool begins = state.uses[tensor] == problem_.uses[tensor], ends = state.uses[tensor] == 1;
      if (begins) during += problem_.bytes[tensor];
      if (begins && !ends) after += problem_.bytes[tensor];
      if (ends && !begins) after -= problem_.bytes[tensor];
    }
    std::vector<size_t> taken;
    for (const auto& [from, to] : step.in_place) {
      if (state.uses[from] != 1 || state.uses[to] != problem_.uses[to]) continue;
      if (std::find(taken.begin(), taken.end(), from) != taken.end() ||
          std::find(taken.begin(), taken.end(), to) != taken.end())
        continue;
      taken.insert(taken.end(), {from, to});
      during -= problem_.bytes[to];
    }
    return {index, task, state.set ^ problem_.labels[task], after, std::max(state.peak, during)};
  }

  // Sorts by lowest peak, then least live bytes, then the given order; each set of tasks is kept once.
  void keep_best(std::vector<Successor>& successors, size_t width) {
    std::stable_sort(successors.begin(), successors.end(), [](const Successor& a, const Successor& b) {
      return a.peak != b.peak ? a.peak < b.peak : a.live < b.live;
    });
    std::vector<Successor> kept;
    std::unordered_set<uint64_t> sets;
    for (const Successor& candidate : successors) {
      if (sets.contains(candidate.set)) continue;
      if (kept.size() == width) {
        least_dropped_ = std::min(least_dropped_, candidate.peak);
        break;  // the rest have no lower peaks
      }
      sets.insert(candidate.set);
      kept.push_back(candidate);
    }
    successors = std::move(kept);
  }

  State done(State next, const Successor& successor) {
    next.set = successor.set;
    next.live = successor.live;
    next.peak = successor.peak;
    past_.push_back({next.history, successor.task});
    next.history = past_.size();  // its index plus one: 0 is the start
    const Step& step = problem_.steps[successor.task];
    std::erase(next.ready, successor.task);
    for (const size_t tensor : step.tensors) --next.uses[tensor];
    for (const size_t follower : step.followers)
      if (--next.waits[follower] == 0)
        next.ready.insert(std::lower_bound(next.ready.begin(), next.ready.end(), follower), follower);
    return next;
  }

  std::vector<size_t> order_of(size_t history, size_t count) const {
    std::vector<size_t> order;
    for (; history != 0; history = past_[history - 1].before) order.push_back(past_[history - 1].task);
    std::reverse(order.begin(), order.end());
    order.resize(count);
    return order;
  }

  const Problem& problem_;
  const SearchLimits limits_;
  std::vector<Past> past_;
  uint64_t tried_ = 0;
  uint64_t least_dropped_ = UINT64_MAX;  // the lowest peak of a state that was not looked into
};

// The most bytes that one task needs, in any order.
uint64_t most_of_a_task(const Problem& problem) {
  uint64_t most = 0;
  for (const Step& step : problem.steps) {
    uint64_t bytes = 0;
    for (const size_t tensor : step.tensors) bytes += problem.bytes[tensor];
    std::set<size_t> in_place;
    for (const auto& [from, to] : step.in_place) in_place.insert(to);
    for (const size_t tensor : in_place) bytes -= problem.bytes[tensor];
    most = std::max(most, bytes);
  }
  return most;
}

// Which outputs take the memory of which inputs decides about bytes only where a task has several; then the
// search's choice may not be the best.
bool has_choices_in_place(const Problem& problem) {
  return std::ranges::any_of(problem.steps, [](const Step& step) {
    return std::ranges::any_of(step.in_place,
                               [&](const auto& pair) { return pair.second != step.in_place.front().second; });
  });
}

}  // namespace

std::vector<std::vector<size_t>> dependencies(const Program& program) {
  std::vector<Uses> accesses(program.tensors.size());
  std::vector<std::vector<size_t>> before(program.tasks.size());
  size_t segment = 0;  // the last host partition, or the first task if there is none yet
  for (size_t t = 0; t < program.tasks.size(); ++t) {
    if (program.tasks[t].host) {
      for (size_t earlier = segment; earlier < t; ++earlier) before[t].push_back(earlier);
      segment = t;
      continue;
    }
    if (segment < t && program.tasks[segment].host) before[t].push_back(segment);
    visit_accesses(program.tasks[t], [&, t, segment](TensorId id, Access access) {
      const Span span = span_of(program, id);
      if (program.tensors[span.root].role == TensorRole::weight) return;
      Uses& uses = accesses[span.root];
      const auto depend_on = [&](const std::vector<Use>& earlier_uses) {
        for (const Use& earlier : earlier_uses)
          if (earlier.task != t && earlier.task >= segment && earlier.bytes.overlaps(span.bytes))
            before[t].push_back(earlier.task);
      };
      depend_on(uses.writes);
      if (access == Access::read) {
        uses.reads.push_back({t, span.bytes});
        return;
      }
      depend_on(uses.reads);
      // Who depends on what this one covers depends on this one, too.
      const auto is_covered = [&](const Use& earlier) {
        return span.bytes.begin <= earlier.bytes.begin && earlier.bytes.end <= span.bytes.end;
      };
      std::erase_if(uses.reads, is_covered);
      std::erase_if(uses.writes, is_covered);
      uses.writes.push_back({t, span.bytes});
    });
    std::sort(before[t].begin(), before[t].end());
    before[t].erase(std::unique(before[t].begin(), before[t].end()), before[t].end());
  }
  return before;
}

LowPeakOrder order_with_low_peak(const Program& program, const MemoryRules& rules, bool in_place) {
  const Problem problem = make_problem(program, rules, in_place);
  if (problem.steps.empty()) return {};
  LowPeakOrder best = *BeamSearch(problem, {}).run();
  const uint64_t least = most_of_a_task(problem);
  best.bound_bytes = std::max(best.bound_bytes, least);
  for (uint64_t steps = kMostStepsForProof; best.bound_bytes < best.peak_bytes && steps > 0;) {
    BeamSearch search(problem, {best.peak_bytes, kWidestForProof, steps});
    std::optional<LowPeakOrder> lower = search.run();
    steps -= std::min(steps, search.tried());
    if (!lower) {
      best.bound_bytes = std::max(best.bound_bytes, search.bound(best.peak_bytes));
      break;
    }
    lower->bound_bytes = std::max(lower->bound_bytes, best.bound_bytes);
    best = std::move(*lower);
  }
  if (has_choices_in_place(problem)) best.bound_bytes = least;
  return best;
}

void apply_order(Program& program, const std::vector<size_t>& order) {
  std::vector<Task> tasks;
  tasks.reserve(order.size());
  for (const size_t t : order) tasks.push_back(std::move(program.tasks[t]));
  program.tasks = std::move(tasks);
}

}  // namespace vellum

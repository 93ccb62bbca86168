#include "plan/weight_stream.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "program/divide.hpp"
#include "vellum/error.hpp"
#include "vellum/planner/plan.hpp"

namespace vellum {
namespace {

uint64_t largest_alignment(std::span<const WeightUse> uses) {
  uint64_t alignment = 1;
  for (const WeightUse& use : uses) alignment = std::max(alignment, use.alignment);
  return alignment;
}

// The segment in which each streamed weight is loaded, and its lifetime; offsets are assigned later.
struct Schedule {
  std::vector<WeightSegment> segments;
  std::vector<bool> early;           // per segment: its weights are copied during the previous one
  std::vector<int64_t> first, last;  // per use: segments that read it
};

class StreamPlanner {
 public:
  StreamPlanner(std::span<const WeightUse> uses, uint64_t budget)
      : uses_(uses), budget_(budget), alignment_(largest_alignment(uses)), by_first_task_(uses.size()) {
    std::iota(by_first_task_.begin(), by_first_task_.end(), 0u);
    std::stable_sort(by_first_task_.begin(), by_first_task_.end(),
                     [&](uint32_t a, uint32_t b) { return uses_[a].first_task < uses_[b].first_task; });
    by_alignment_ = by_first_task_;
    std::stable_sort(by_alignment_.begin(), by_alignment_.end(),
                     [&](uint32_t a, uint32_t b) { return uses_[a].alignment > uses_[b].alignment; });
  }

  // Returns nothing if it does not fit.
  std::optional<WeightStreamPlan> best() const {
    std::optional<WeightStreamPlan> result;
    for (const bool small_first : {true, false}) {
      std::optional<WeightStreamPlan> plan = pin_greedily(small_first);
      if (plan && (!result || plan->streamed_bytes < result->streamed_bytes)) result = std::move(plan);
    }
    return result;
  }

  // The least demanding plan: nothing is pinned, and every task that needs other weights waits for them.
  WeightStreamPlan least() const {
    const std::vector<bool> none(uses_.size(), false);
    Schedule schedule = cut(none, 0);
    schedule.early.assign(schedule.segments.size(), false);
    return *place(std::move(schedule), none, std::numeric_limits<uint64_t>::max());
  }

 private:
  // Bytes of a streamed weight; streamed weights all have the largest alignment.
  uint64_t size(uint32_t use) const { return round_up(uses_[use].bytes, alignment_); }

  // Places the pinned weights one after another, those of large alignment first. Sets the offset of each in
  // `at` and returns the end of the last.
  uint64_t lay_out_pinned(const std::vector<bool>& pinned, std::vector<uint64_t>* at = nullptr,
                          uint64_t end = 0) const {
    for (const uint32_t use : by_alignment_) {
      if (!pinned[use]) continue;
      const uint64_t offset = round_up(end, uses_[use].alignment);
      if (at) (*at)[use] = offset;
      end = offset + uses_[use].bytes;
    }
    return end;
  }

  // Pins as many weights, in that order, as possible while the rest still fits.
  std::optional<WeightStreamPlan> pin_greedily(bool small_first) const {
    std::vector<uint32_t> order = by_first_task_;
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return small_first ? size(a) < size(b) : size(a) > size(b);
    });
    const auto with = [&](size_t count) {
      std::vector<bool> pinned(uses_.size(), false);
      for (size_t i = 0; i < count; ++i) pinned[order[i]] = true;
      return pinned;
    };
    // Loading everything early is preferred over loading less, but late.
    const bool can_be_early = try_plan(with(0), true).has_value();
    size_t fits = 0, too_many = order.size() + 1;
    while (too_many - fits > 1) {
      const size_t middle = fits + (too_many - fits) / 2;
      (try_plan(with(middle), can_be_early) ? fits : too_many) = middle;
    }
    return try_plan(with(fits), can_be_early);
  }

  std::optional<WeightStreamPlan> try_plan(const std::vector<bool>& pinned, bool all_early) const {
    const uint64_t pinned_bytes = lay_out_pinned(pinned);
    if (pinned_bytes > budget_) return std::nullopt;
    const uint64_t room = budget_ - pinned_bytes;
    // Larger groups, if they fit, need fewer submits.
    for (const uint64_t group : {room / 16, uint64_t{0}}) {
      Schedule schedule = cut(pinned, group);
      if (!fit(schedule, pinned, room, all_early)) continue;
      if (auto plan = place(std::move(schedule), pinned, room)) return plan;
    }
    if (all_early) return std::nullopt;
    Schedule late = cut(pinned, 0);
    late.early.assign(late.segments.size(), false);
    return place(std::move(late), pinned, room);
  }

  // A new segment begins where a task reads weights that are not loaded, or a few tasks later as long as the
  // segment's loads stay within `group` bytes.
  Schedule cut(const std::vector<bool>& pinned, uint64_t group) const {
    Schedule schedule;
    schedule.segments.push_back({});
    schedule.first.assign(uses_.size(), 0);
    uint64_t loading = 0;
    for (size_t i = 0; i < by_first_task_.size();) {
      const int64_t task = uses_[by_first_task_[i]].first_task;
      std::vector<uint32_t> loads;
      uint64_t bytes = 0;
      for (; i < by_first_task_.size() && uses_[by_first_task_[i]].first_task == task; ++i) {
        if (pinned[by_first_task_[i]]) continue;
        loads.push_back(by_first_task_[i]);
        bytes += size(by_first_task_[i]);
      }
      if (loads.empty()) continue;
      if (loading + bytes > group && (loading > 0 || task > 0)) {
        schedule.segments.push_back({task, {}, -1});
        loading = 0;
      }
      loading += bytes;
      WeightSegment& segment = schedule.segments.back();
      segment.loads.insert(segment.loads.end(), loads.begin(), loads.end());
      for (const uint32_t use : loads)
        schedule.first[use] = static_cast<int64_t>(schedule.segments.size()) - 1;
    }
    schedule.last = last_segments(schedule);
    schedule.early.assign(schedule.segments.size(), true);
    return schedule;
  }

  std::vector<int64_t> last_segments(const Schedule& schedule) const {
    std::vector<int64_t> last(uses_.size(), 0);
    for (size_t use = 0; use < uses_.size(); ++use) {
      const auto after =
          std::upper_bound(schedule.segments.begin(), schedule.segments.end(), uses_[use].last_task,
                           [](int64_t task, const WeightSegment& s) { return task < s.first_task; });
      last[use] = after - schedule.segments.begin() - 1;
    }
    return last;
  }

  int64_t taken_from(const Schedule& schedule, uint32_t use) const {
    const int64_t first = schedule.first[use];
    return first > 0 && schedule.early[static_cast<size_t>(first)] ? first - 1 : first;
  }

  // The bytes in use during each segment.
  std::vector<uint64_t> breadths(const Schedule& schedule, const std::vector<bool>& pinned) const {
    std::vector<int64_t> change(schedule.segments.size() + 1, 0);
    for (uint32_t use = 0; use < uses_.size(); ++use) {
      if (pinned[use]) continue;
      change[static_cast<size_t>(taken_from(schedule, use))] += static_cast<int64_t>(size(use));
      change[static_cast<size_t>(schedule.last[use]) + 1] -= static_cast<int64_t>(size(use));
    }
    std::vector<uint64_t> breadths;
    int64_t sum = 0;
    for (size_t s = 0; s < schedule.segments.size(); ++s)
      breadths.push_back(static_cast<uint64_t>(sum += change[s]));
    return breadths;
  }

  // Makes copies late where early ones do not fit.
  bool fit(Schedule& schedule, const std::vector<bool>& pinned, uint64_t room, bool all_early) const {
    const std::vector<uint64_t> all = breadths(schedule, pinned);
    for (size_t s = 0; s < all.size(); ++s) {
      if (all[s] <= room) continue;
      if (all_early || s + 1 == all.size()) return false;
      schedule.early[s + 1] = false;
    }
    const std::vector<uint64_t> after = breadths(schedule, pinned);
    return std::all_of(after.begin(), after.end(), [&](uint64_t bytes) { return bytes <= room; });
  }

  std::optional<WeightStreamPlan> place(Schedule schedule, const std::vector<bool>& pinned,
                                        uint64_t room) const {
    WeightStreamPlan plan;
    plan.pinned = pinned;
    plan.offset_of.assign(uses_.size(), 0);
    std::vector<planner::TensorUsageRecord> records;
    std::vector<uint32_t> streamed;
    for (uint32_t use = 0; use < uses_.size(); ++use) {
      if (pinned[use]) continue;
      streamed.push_back(use);
      records.push_back({planner::Bytes{size(use)}, taken_from(schedule, use), schedule.last[use]});
      plan.streamed_bytes += uses_[use].bytes;
    }
    const planner::PlanOptions options{.alignment = alignment_};
    const planner::OffsetPlan places = planner::plan_offsets(records, planner::OffsetStrategy::best, options);
    planner::validate(records, places, options);
    if (places.total_bytes > room) return std::nullopt;
    for (size_t i = 0; i < streamed.size(); ++i) plan.offset_of[streamed[i]] = places.offset_of[i];
    // The end of the streamed weights suits any alignment: their sizes are multiples of the largest.
    plan.total_bytes = lay_out_pinned(pinned, &plan.offset_of, places.total_bytes);
    plan.segments = std::move(schedule.segments);
    find_free_after(plan, schedule);
    return plan;
  }

  // The earlier contents of a segment's memory have been read for the last time. Later segments' weights were
  // there in the previous inference, which has ended.
  void find_free_after(WeightStreamPlan& plan, const Schedule& schedule) const {
    for (size_t s = 0; s < plan.segments.size(); ++s)
      for (const uint32_t use : plan.segments[s].loads)
        for (uint32_t other = 0; other < uses_.size(); ++other) {
          if (other == use || plan.pinned[other] || schedule.last[other] >= static_cast<int64_t>(s)) continue;
          const bool meets = plan.offset_of[use] < plan.offset_of[other] + size(other) &&
                             plan.offset_of[other] < plan.offset_of[use] + size(use);
          if (meets)
            plan.segments[s].free_after = std::max(plan.segments[s].free_after, schedule.last[other]);
        }
  }

  std::span<const WeightUse> uses_;
  uint64_t budget_;
  uint64_t alignment_;
  std::vector<uint32_t> by_first_task_, by_alignment_;
};

struct Peak {
  uint64_t bytes = 0;
  const WeightUse* use = nullptr;  // the largest of the weights that are loaded at once
};

Peak largest_task(std::span<const WeightUse> uses) {
  Peak peak;
  const uint64_t alignment = largest_alignment(uses);
  for (const WeightUse& at : uses) {
    Peak here;
    for (const WeightUse& use : uses) {
      if (use.first_task > at.first_task || use.last_task < at.first_task) continue;
      here.bytes += round_up(use.bytes, alignment);
      if (!here.use || use.bytes > here.use->bytes) here.use = &use;
    }
    if (here.bytes > peak.bytes) peak = here;
  }
  return peak;
}

[[noreturn]] void refuse(std::span<const WeightUse> uses, uint64_t budget) {
  const Peak peak = largest_task(uses);
  throw Error(ErrorCode::out_of_memory,
              "a weights budget of " + std::to_string(budget) + " bytes is too small: layer '" +
                  peak.use->layer + "' has weights of " + std::to_string(peak.use->bytes) + " bytes; " +
                  std::to_string(sufficient_weights_budget(uses)) + " bytes would do");
}

}  // namespace

WeightUses weight_uses(const Program& program, const FixedConstants& constants,
                       const std::function<MemoryNeed(TensorId)>& need, uint64_t granularity) {
  WeightUses weights;
  const std::vector<TensorId> ids = weight_ids(program);
  const std::vector<Lifetime> lives =
      lifetimes(program, [](const VirtualTensor& tensor) { return tensor.role == TensorRole::weight; });
  std::map<std::string, uint32_t> by_key;
  bool images = false, buffers = false;
  for (const TensorId id : ids) {
    const Lifetime& life = lives[id];
    if (!life.planned()) continue;
    const VirtualTensor& tensor = program.tensors[id];
    const auto [known, added] =
        by_key.emplace(weight_key(tensor, constants), static_cast<uint32_t>(weights.uses.size()));
    weights.of_tensor[id] = known->second;
    if (!added) {
      WeightUse& use = weights.uses[known->second];
      use.first_task = std::min(use.first_task, life.first);
      use.last_task = std::max(use.last_task, life.last);
      continue;
    }
    const MemoryNeed needed = need(id);
    (tensor.desc.storage == Storage::buffer ? buffers : images) = true;
    weights.memory_types &= needed.memory_types;
    const std::string& layer = program.tasks[static_cast<size_t>(life.first)].dispatch->name;
    weights.tensors.push_back(id);
    weights.keys.push_back(known->first);
    weights.uses.push_back({needed.bytes, needed.alignment, life.first, life.last, layer});
  }
  if (images && buffers)
    for (WeightUse& use : weights.uses) use.alignment = std::max(use.alignment, granularity);
  return weights;
}

uint64_t sufficient_weights_budget(std::span<const WeightUse> uses) {
  return StreamPlanner(uses, std::numeric_limits<uint64_t>::max()).least().total_bytes;
}

WeightStreamPlan plan_weight_stream(std::span<const WeightUse> uses, int64_t task_count, uint64_t budget) {
  for (const WeightUse& use : uses)
    if (use.bytes == 0 || use.first_task < 0 || use.last_task < use.first_task || use.last_task >= task_count)
      throw Error(ErrorCode::internal, "a weight of layer '" + use.layer + "' has no bytes or no tasks");
  const StreamPlanner planner(uses, budget);
  if (auto plan = planner.best()) return std::move(*plan);
  refuse(uses, budget);
}

}  // namespace vellum

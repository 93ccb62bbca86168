#include "plan/submits.hpp"

#include <algorithm>
#include <cmath>

namespace vellum {
namespace {

// Ranges that must not be joined: of one segment, and dispatches or a host partition.
std::vector<SubmitRange> undivided(const Program& program, std::span<const int64_t> segments,
                                   std::span<const double> milliseconds) {
  std::vector<SubmitRange> ranges;
  size_t segment = 0;
  for (size_t t = 0; t < program.tasks.size(); ++t) {
    const bool host = program.tasks[t].host.has_value();
    const size_t segment_before = segment;
    while (segment + 1 < segments.size() && segments[segment + 1] <= static_cast<int64_t>(t)) ++segment;
    if (host || ranges.empty() || ranges.back().host || segment != segment_before)
      ranges.push_back({.first_task = t, .segment = segment, .host = host});
    ++ranges.back().task_count;
    ranges.back().milliseconds += milliseconds[t];
  }
  return ranges;
}

void add_parts(std::vector<SubmitRange>& submits, const SubmitRange& whole, const Dispatch& dispatch,
               uint32_t parts) {
  for (const WorkgroupRange& range : workgroup_ranges(dispatch, parts)) {
    SubmitRange part = whole;
    part.milliseconds = whole.milliseconds / parts;
    part.workgroups = range;
    part.continues = range.first != std::array<uint32_t, 3>{};
    part.is_continued = true;
    submits.push_back(part);
  }
  submits.back().is_continued = false;
}

}  // namespace

std::vector<uint32_t> parts_of_tasks(const Program& program, const SubmitLimits& limits,
                                     std::span<const double> milliseconds) {
  std::vector<uint32_t> parts(program.tasks.size(), 1);
  for (size_t t = 0; t < parts.size(); ++t) {
    const std::optional<Dispatch>& dispatch = program.tasks[t].dispatch;
    if (!dispatch || limits.milliseconds <= 0 || milliseconds[t] <= limits.milliseconds) continue;
    // A prediction that is far off should not make thousands of submits.
    constexpr uint32_t kMostParts = 256;
    const double wanted = std::ceil(milliseconds[t] / (limits.milliseconds / 2));
    parts[t] = static_cast<uint32_t>(std::min<double>(wanted, std::min(kMostParts, most_parts(*dispatch))));
  }
  return parts;
}

std::optional<std::vector<double>> slower_milliseconds(const Program& program,
                                                       std::span<const int64_t> segments,
                                                       const SubmitLimits& limits,
                                                       std::span<const double> milliseconds,
                                                       std::span<const double> measured) {
  const std::vector<SubmitRange> submits = divide_into_submits(program, segments, limits, milliseconds);
  std::vector<double> slower(milliseconds.begin(), milliseconds.end());
  bool is_too_long = false;
  for (size_t i = 0; i < submits.size() && i < measured.size(); ++i) {
    const SubmitRange& submit = submits[i];
    if (submit.host || !(measured[i] > submit.milliseconds)) continue;
    is_too_long |= measured[i] > limits.milliseconds;
    const double excess = (measured[i] - submit.milliseconds) / static_cast<double>(submit.task_count);
    for (size_t t = submit.first_task; t < submit.first_task + submit.task_count; ++t)
      slower[t] += submit.milliseconds > 0 && !submit.workgroups
                       ? milliseconds[t] * (measured[i] / submit.milliseconds - 1)
                       : excess;
  }
  if (!is_too_long || divide_into_submits(program, segments, limits, slower) == submits) return std::nullopt;
  return slower;
}

std::vector<SubmitRange> divide_into_submits(const Program& program, std::span<const int64_t> segments,
                                             const SubmitLimits& limits,
                                             std::span<const double> milliseconds) {
  std::vector<SubmitRange> submits;
  const std::vector<uint32_t> parts = parts_of_tasks(program, limits, milliseconds);
  for (const SubmitRange& range : undivided(program, segments, milliseconds)) {
    const bool too_long = limits.milliseconds > 0 && range.milliseconds > limits.milliseconds;
    SubmitRange next{range.first_task, 0, range.segment, range.host, 0};
    for (size_t t = range.first_task; t < range.first_task + range.task_count; ++t) {
      const bool is_full = (limits.tasks > 0 && next.task_count == limits.tasks) ||
                           (too_long && next.milliseconds + milliseconds[t] > limits.milliseconds / 2);
      if ((is_full || parts[t] > 1) && next.task_count > 0) {
        submits.push_back(next);
        next = {t, 0, range.segment, range.host, 0};
      }
      if (parts[t] > 1) {
        add_parts(submits, {t, 1, range.segment, false, milliseconds[t]}, *program.tasks[t].dispatch,
                  parts[t]);
        next = {t + 1, 0, range.segment, range.host, 0};
        continue;
      }
      ++next.task_count;
      next.milliseconds += milliseconds[t];
    }
    if (next.task_count > 0) submits.push_back(next);
  }
  return submits;
}

}  // namespace vellum

#include "plan/submits.hpp"

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

}  // namespace

std::vector<SubmitRange> divide_into_submits(const Program& program, std::span<const int64_t> segments,
                                             const SubmitLimits& limits,
                                             std::span<const double> milliseconds) {
  std::vector<SubmitRange> submits;
  for (const SubmitRange& range : undivided(program, segments, milliseconds)) {
    const bool too_long = limits.milliseconds > 0 && range.milliseconds > limits.milliseconds;
    SubmitRange next{range.first_task, 0, range.segment, range.host, 0};
    for (size_t t = range.first_task; t < range.first_task + range.task_count; ++t) {
      const bool is_full = (limits.tasks > 0 && next.task_count == limits.tasks) ||
                           (too_long && next.milliseconds + milliseconds[t] > limits.milliseconds / 2);
      if (is_full && next.task_count > 0) {
        submits.push_back(next);
        next = {t, 0, range.segment, range.host, 0};
      }
      ++next.task_count;
      next.milliseconds += milliseconds[t];
    }
    submits.push_back(next);
  }
  return submits;
}

}  // namespace vellum

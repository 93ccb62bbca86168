// Divides the tasks of a program into submits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/dispatch_parts.hpp"
#include "program/program.hpp"

namespace vellum {

// Limits of a submit. 0: no limit.
struct SubmitLimits {
  uint32_t tasks = 0;
  // The predicted work of a run that may be pending at a time. If the dispatches between two host partitions
  // take longer, they are divided into submits of at most half this time, so that the next submit is already
  // pending when one completes. A single dispatch that takes longer than the limit is divided into ranges of
  // its workgroups, as far as it can be (dispatch_parts.hpp); each is a submit of its own.
  double milliseconds = 0;
};

// Consecutive dispatches that are submitted together, a part of one dispatch, or one host partition.
struct SubmitRange {
  size_t first_task = 0, task_count = 0;
  size_t segment = 0;  // segment of streamed weights
  bool host = false;
  double milliseconds = 0;  // predicted time
  // Of a divided dispatch.
  std::optional<WorkgroupRange> workgroups = std::nullopt;
  bool continues = false;     // not its first range
  bool is_continued = false;  // not its last range

  bool operator==(const SubmitRange&) const = default;
};

// Returns the times of the tasks, given the measured milliseconds of the submits (NaN: unknown), if these
// show that the division should be another one: a submit took longer than the limit, and the result of
// divide_into_submits() with the returned times differs. Else returns nothing. Times only become longer.
std::optional<std::vector<double>> slower_milliseconds(const Program& program,
                                                       std::span<const int64_t> segments,
                                                       const SubmitLimits& limits,
                                                       std::span<const double> milliseconds,
                                                       std::span<const double> measured);

// Returns for each task into how many ranges its dispatch is divided; 1 for most.
std::vector<uint32_t> parts_of_tasks(const Program& program, const SubmitLimits& limits,
                                     std::span<const double> milliseconds);

// segments: the first task of each segment, where a submit must begin (WeightStream::segments()).
// milliseconds: the time of each task (predicted_milliseconds()).
std::vector<SubmitRange> divide_into_submits(const Program& program, std::span<const int64_t> segments,
                                             const SubmitLimits& limits,
                                             std::span<const double> milliseconds);

}  // namespace vellum

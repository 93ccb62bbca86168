// Divides the tasks of a program into submits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "program/program.hpp"

namespace vellum {

// Limits of a submit. 0: no limit.
struct SubmitLimits {
  uint32_t tasks = 0;
  // The predicted work of a run that may be pending at a time. If the dispatches between two host partitions
  // take longer, they are divided into submits of at most half this time, so that the next submit is already
  // pending when one completes. A single dispatch that takes longer is a submit of its own.
  double milliseconds = 0;
};

// Consecutive dispatches that are submitted together, or one host partition.
struct SubmitRange {
  size_t first_task = 0, task_count = 0;
  size_t segment = 0;  // segment of streamed weights
  bool host = false;
  double milliseconds = 0;  // predicted time
};

// segments: the first task of each segment, where a submit must begin (WeightStream::segments()).
// milliseconds: the time of each task (predicted_milliseconds()).
std::vector<SubmitRange> divide_into_submits(const Program& program, std::span<const int64_t> segments,
                                             const SubmitLimits& limits,
                                             std::span<const double> milliseconds);

}  // namespace vellum

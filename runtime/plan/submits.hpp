// Divides the tasks of a program into submits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "program/program.hpp"

namespace vellum {

// 0: no limit.
struct SubmitLimits {
  uint32_t tasks = 0;
  // The work of a run that the device has at a time. Dispatches between two host partitions that take
  // longer are divided into submits of at most half of that, so that the device has the next submit when it
  // has done one. A dispatch that takes longer by itself is a submit of its own.
  double milliseconds = 0;
};

// Consecutive dispatches that are submitted together, or one host partition.
struct SubmitRange {
  size_t first_task = 0, task_count = 0;
  size_t segment = 0;  // of the stream of weights
  bool host = false;
  double milliseconds = 0;  // predicted
};

// segments: the first task of each segment, where a submit begins (WeightStream::segments()). milliseconds:
// of each task, as predicted_milliseconds() returns them.
std::vector<SubmitRange> divide_into_submits(const Program& program, std::span<const int64_t> segments,
                                             const SubmitLimits& limits,
                                             std::span<const double> milliseconds);

}  // namespace vellum

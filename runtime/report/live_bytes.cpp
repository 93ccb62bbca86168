#include "report/live_bytes.hpp"

#include <algorithm>

#include "report/arena_view.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

struct Range {
  uint64_t begin, end;
};

// The bytes that at least one of the ranges covers.
uint64_t covered(std::vector<Range>& ranges) {
  std::ranges::sort(ranges, {}, &Range::begin);
  uint64_t bytes = 0, end = 0;
  for (const Range& range : ranges) {
    bytes += std::max(range.end, end) - std::max(range.begin, end);
    end = std::max(end, range.end);
  }
  return bytes;
}

}  // namespace

std::vector<uint64_t> live_bytes(const MemoryReport& memory, size_t task_count) {
  check_tensors(memory);
  std::vector<std::vector<const TensorReport*>> tensors_of(memory.objects.size());
  for (const TensorReport& tensor : memory.tensors) {
    if (static_cast<size_t>(tensor.last_task) >= task_count)
      throw Error(ErrorCode::invalid_argument,
                  "the report's tensor '" + tensor.name + "' lives beyond the tasks");
    tensors_of[tensor.object].push_back(&tensor);
  }
  const bool counts_objects = memory.mode == "offsets";  // an object holds one tensor and those that alias it
  std::vector<uint64_t> live(task_count);
  for (size_t object = 0; object < memory.objects.size(); ++object) {
    std::vector<std::vector<Range>> ranges(task_count);
    for (const TensorReport* tensor : tensors_of[object]) {
      const Range range = counts_objects ? Range{0, memory.objects[object].bytes}
                                         : Range{tensor->offset, tensor->offset + tensor->bytes};
      for (int64_t task = tensor->first_task; task <= tensor->last_task; ++task)
        ranges[static_cast<size_t>(task)].push_back(range);
    }
    for (size_t task = 0; task < task_count; ++task) live[task] += covered(ranges[task]);
  }
  return live;
}

}  // namespace vellum

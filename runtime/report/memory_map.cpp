#include "vellum/planner/memory_map.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/arena_view.hpp"
#include "vellum/error.hpp"
#include "vellum/report.hpp"

namespace vellum {

std::string memory_map_svg(const MemoryReport& memory, const std::string& title) {
  if (memory.objects.empty())
    throw Error(ErrorCode::invalid_argument, "there is no memory to draw: the plan has no objects");
  MemoryReport shown = with_arenas_as_objects(memory);
  planner::MemoryMap map;
  map.lower_bound = memory.lower_bound_bytes;
  for (const ObjectReport& object : shown.objects) {
    map.objects.push_back({map.bytes, object.bytes, object.reuse_count});
    map.bytes += object.bytes;
  }
  std::vector<std::string> names;
  for (TensorReport& tensor : shown.tensors) {
    const uint64_t address = map.objects[tensor.object].address + tensor.offset;
    map.tensors.push_back({tensor.first_task, tensor.last_task, address, tensor.bytes});
    names.push_back(std::move(tensor.name));
  }
  if (map.objects.size() == 1 && memory.mode == "offsets") map.objects.clear();  // one arena
  return planner::memory_map_svg(map, names, title);
}

}  // namespace vellum

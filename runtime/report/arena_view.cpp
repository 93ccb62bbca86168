#include "report/arena_view.hpp"

#include "vellum/error.hpp"

namespace vellum {

void check_objects(const MemoryReport& memory) {
  for (const ObjectReport& object : memory.objects)
    if (object.arena >= memory.arenas.size())
      throw Error(ErrorCode::invalid_argument,
                  "the report's object " + std::to_string(object.id) + " is in no arena");
}

void check_tensors(const MemoryReport& memory) {
  for (const TensorReport& tensor : memory.tensors)
    if (tensor.object >= memory.objects.size() || tensor.first_task < 0 ||
        tensor.last_task < tensor.first_task)
      throw Error(ErrorCode::invalid_argument,
                  "the report's tensor '" + tensor.name + "' has no object or no lifetime");
}

MemoryReport with_arenas_as_objects(MemoryReport memory) {
  check_tensors(memory);
  if (memory.mode != "offsets") return memory;
  check_objects(memory);
  std::vector<ObjectReport> arenas;
  for (const uint64_t bytes : memory.arenas) {
    ObjectReport& arena = arenas.emplace_back();
    arena.id = arena.arena = static_cast<uint32_t>(arenas.size() - 1);
    arena.kind = "arena";
    arena.bytes = bytes;
  }
  for (TensorReport& tensor : memory.tensors) {
    const ObjectReport& object = memory.objects[tensor.object];
    tensor.object = object.arena;
    tensor.offset += object.arena_offset;
    arenas[object.arena].tensors.push_back(tensor.name);
    ++arenas[object.arena].reuse_count;
  }
  memory.objects = std::move(arenas);
  return memory;
}

}  // namespace vellum

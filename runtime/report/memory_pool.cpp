// Networks that share the memory of their intermediate tensors.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "report/arena_view.hpp"
#include "vellum/error.hpp"
#include "vellum/planner/memory_map.hpp"
#include "vellum/report.hpp"

namespace vellum {
namespace {

std::vector<uint64_t> arenas_of(std::span<const PooledNetwork> networks) {
  std::vector<uint64_t> arenas;
  for (const PooledNetwork& network : networks) {
    const std::vector<uint64_t>& needed = network.memory.arenas;
    arenas.resize(std::max(arenas.size(), needed.size()));
    for (size_t i = 0; i < needed.size(); ++i) arenas[i] = std::max(arenas[i], needed[i]);
  }
  return arenas;
}

// The address of an object in the pool, whose arenas are one above the other.
uint64_t address_of(const ObjectReport& object, const std::vector<uint64_t>& arenas) {
  return std::accumulate(arenas.begin(), arenas.begin() + object.arena, uint64_t{0}) + object.arena_offset;
}

}  // namespace

uint64_t pool_bytes(std::span<const PooledNetwork> networks) {
  const std::vector<uint64_t> arenas = arenas_of(networks);
  return std::accumulate(arenas.begin(), arenas.end(), uint64_t{0});
}

std::string memory_pool_svg(std::span<const PooledNetwork> networks, const std::string& title) {
  const std::vector<uint64_t> arenas = arenas_of(networks);
  planner::MemoryMap map;
  map.bytes = pool_bytes(networks);
  if (map.bytes == 0)
    throw Error(ErrorCode::invalid_argument,
                "there is no memory to draw: no network has intermediate tensors");
  std::vector<std::string> names;
  int64_t begin = 0;
  for (const auto& [name, memory] : networks) {
    check_tensors(memory);
    check_objects(memory);
    map.sections.push_back({begin, name});
    int64_t end = begin;
    for (const TensorReport& tensor : memory.tensors) {
      const ObjectReport& object = memory.objects[tensor.object];
      map.tensors.push_back({begin + tensor.first_task, begin + tensor.last_task,
                             address_of(object, arenas) + tensor.offset, tensor.bytes});
      names.push_back(tensor.name);
      end = std::max(end, begin + tensor.last_task + 1);
    }
    begin = end;
  }
  return planner::memory_map_svg(map, names, title);
}

}  // namespace vellum

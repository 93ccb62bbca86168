#include "vulkan/binding_check.hpp"

#include <string>

#include "vellum/error.hpp"

namespace vellum::gpu {

MemoryRequirements plain(const vk::MemoryRequirements& requirements) {
  return {requirements.size, requirements.alignment, requirements.memoryTypeBits};
}

void check_binding(const char* what, const MemoryRequirements& needed, const Arena& arena, uint64_t offset,
                   bool already_bound) {
  const char* fault = nullptr;
  if (already_bound)
    fault = "it is bound already";
  else if ((arena.begin() + offset) % needed.alignment != 0)
    fault = "the offset is not aligned";
  else if (offset > arena.size() || needed.size > arena.size() - offset)
    fault = "the memory ends before it";
  else if (!(needed.memory_type_bits >> arena.memory_type() & 1))
    fault = "it cannot live in this type of memory";
  if (fault)
    throw Error(ErrorCode::invalid_argument, std::string("a ") + what + " of " + std::to_string(needed.size) +
                                                 " bytes, alignment " + std::to_string(needed.alignment) +
                                                 ", cannot be bound at offset " + std::to_string(offset) +
                                                 " of an arena of " + std::to_string(arena.size()) +
                                                 " bytes: " + fault);
}

}  // namespace vellum::gpu

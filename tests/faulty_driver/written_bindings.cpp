#include "faulty_driver/written_bindings.hpp"

#include <map>

#include "worst_device/spirv_builder.hpp"

namespace vellum::test {
namespace {

// SPIR-V specification, 3.20 and 3.52.
constexpr uint32_t kBinding = 33, kNonWritable = 24, kMemberDecorate = 72;

bool is_storage(const SpirvBuilder& module, uint32_t pointer) {
  const SpirvType* type = module.type(pointer);
  if (type) type = module.type(type->operands[1]);
  if (!type) return false;
  constexpr uint32_t kStorageImage = 2;
  return type->opcode == spirv::kTypeStruct ||
         (type->opcode == spirv::kTypeImage && type->operands[5] == kStorageImage);
}

}  // namespace

std::set<uint32_t> written_bindings(std::span<const uint32_t> spirv) {
  SpirvModule module = read_spirv(spirv);
  const SpirvBuilder types(module);
  std::map<uint32_t, uint32_t> bindings;
  std::set<uint32_t> readonly;  // variables and types
  for (const Instruction& i : module.instructions) {
    const std::vector<uint32_t>& o = i.operands;
    if (i.opcode == spirv::kDecorate && o[1] == kBinding) bindings[o[0]] = o[2];
    if (i.opcode == spirv::kDecorate && o[1] == kNonWritable) readonly.insert(o[0]);
    if (i.opcode == kMemberDecorate && o[2] == kNonWritable) readonly.insert(o[0]);
  }
  std::set<uint32_t> written;
  for (const auto& [variable, binding] : bindings) {
    const uint32_t pointer = types.type_of(variable);
    if (is_storage(types, pointer) && !readonly.contains(variable) &&
        !readonly.contains(types.type(pointer)->operands[1]))
      written.insert(binding);
  }
  return written;
}

}  // namespace vellum::test

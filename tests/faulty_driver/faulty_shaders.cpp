#include "faulty_driver/faulty_shaders.hpp"

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

bool has_local_size(std::span<const uint32_t> spirv, const std::array<uint32_t, 3>& size) {
  for (const Instruction& i : read_spirv(spirv).instructions)
    if (i.opcode == spirv::kExecutionMode && i.operands[1] == spirv::kLocalSize)
      return i.operands[2] == size[0] && i.operands[3] == size[1] && i.operands[4] == size[2];
  return false;
}

std::vector<uint32_t> with_wrong_sums(std::span<const uint32_t> spirv) {
  constexpr uint32_t kFAdd = 129;
  SpirvModule module = read_spirv(spirv);
  const SpirvBuilder types(module);
  for (Instruction& i : module.instructions)
    if (i.opcode == kFAdd && types.components(i.operands[0]) == 4) i.opcode = spirv::kFMul;
  return write_spirv(module);
}

}  // namespace vellum::test

#include "worst_device/spirv_entry.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace vellum::test {
namespace {

const Instruction& function_of(const SpirvModule& module, uint32_t id) {
  for (const Instruction& i : module.instructions)
    if (i.opcode == spirv::kFunction && i.operands[1] == id) return i;
  throw std::runtime_error("a SPIR-V module has no entry point");
}

}  // namespace

void wrap_entry_point(SpirvModule& module, std::vector<Instruction> before, std::vector<Instruction> after) {
  const uint32_t wrapper = module.new_id();
  uint32_t entry = 0;
  for (Instruction& i : module.instructions) {
    if (i.opcode == spirv::kEntryPoint) entry = std::exchange(i.operands[1], wrapper);
    if (i.opcode == spirv::kExecutionMode && i.operands[0] == entry) i.operands[0] = wrapper;
  }
  const Instruction function = function_of(module, entry);  // its result has no type, it takes nothing
  std::vector<Instruction>& all = module.instructions;
  all.push_back({spirv::kFunction, {function.operands[0], wrapper, 0, function.operands[3]}});
  all.push_back({spirv::kLabel, {module.new_id()}});
  std::ranges::move(before, std::back_inserter(all));
  all.push_back({spirv::kFunctionCall, {function.operands[0], module.new_id(), entry}});
  std::ranges::move(after, std::back_inserter(all));
  all.push_back({spirv::kReturn, {}});
  all.push_back({spirv::kFunctionEnd, {}});
}

}  // namespace vellum::test

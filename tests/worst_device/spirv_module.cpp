#include "worst_device/spirv_module.hpp"

#include <stdexcept>

namespace vellum::test {

SpirvModule read_spirv(std::span<const uint32_t> words) {
  constexpr size_t kHeaderWords = 5;
  constexpr uint32_t kMagic = 0x07230203;
  if (words.size() < kHeaderWords || words[0] != kMagic) throw std::runtime_error("not a SPIR-V module");
  SpirvModule module;
  module.header.assign(words.begin(), words.begin() + kHeaderWords);
  for (size_t i = kHeaderWords; i < words.size();) {
    const size_t length = words[i] >> 16;
    if (length == 0 || i + length > words.size()) throw std::runtime_error("a SPIR-V instruction is cut off");
    module.instructions.push_back({words[i] & 0xffff, {words.begin() + i + 1, words.begin() + i + length}});
    i += length;
  }
  return module;
}

std::vector<uint32_t> write_spirv(const SpirvModule& module) {
  std::vector<uint32_t> words = module.header;
  for (const Instruction& instruction : module.instructions) {
    const auto length = static_cast<uint32_t>(instruction.operands.size() + 1);
    words.push_back(length << 16 | instruction.opcode);
    words.insert(words.end(), instruction.operands.begin(), instruction.operands.end());
  }
  return words;
}

}  // namespace vellum::test

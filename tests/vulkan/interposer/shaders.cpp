// A driver that compiles one shader wrongly.
#include <set>
#include <span>
#include <string>
#include <vector>

#include "vulkan/interposer/state.hpp"

namespace vellum::test::interposed {
namespace {

// SPIR-V specification, 3.49.
constexpr uint32_t kOpName = 5, kOpTypeVector = 23, kOpFAdd = 129, kOpFSub = 131, kOpFMul = 133;
constexpr size_t kSpirvHeaderWords = 5;

// Calls `visit` with each instruction's number and words, which begin with its length and number.
template <typename Visit>
void for_each_instruction(std::vector<uint32_t>& module, const Visit& visit) {
  for (size_t i = kSpirvHeaderWords; i < module.size() && module[i] >> 16 != 0; i += module[i] >> 16)
    visit(module[i] & 0xffff, std::span(module).subspan(i, module[i] >> 16));
}

// Whether an OpName has the text.
bool names(std::vector<uint32_t>& module, const std::string& text) {
  bool found = false;
  for_each_instruction(module, [&](uint32_t op, std::span<uint32_t> words) {
    if (op != kOpName) return;
    const std::string name(reinterpret_cast<const char*>(&words[2]), 4 * (words.size() - 2));
    found |= name.find(text) != name.npos;
  });
  return found;
}

// Vectors of four are numbers of tensors; places in memory are computed from scalars and must not change.
void break_arithmetic(std::vector<uint32_t>& module) {
  std::set<uint32_t> vectors;
  for_each_instruction(module, [&](uint32_t op, std::span<uint32_t> words) {
    if (op == kOpTypeVector && words[3] == 4) vectors.insert(words[1]);
    if ((op != kOpFMul && op != kOpFAdd) || !vectors.contains(words[1])) return;
    words[0] = (words[0] & 0xffff0000) | (op == kOpFMul ? kOpFAdd : kOpFSub);
  });
}

VKAPI_ATTR VkResult VKAPI_CALL create_shader_module(VkDevice device, const VkShaderModuleCreateInfo* info,
                                                    const VkAllocationCallbacks* callbacks,
                                                    VkShaderModule* module) {
  ++state().objects_made;
  std::vector<uint32_t> code(info->pCode, info->pCode + info->codeSize / sizeof(uint32_t));
  if (!state().miscompiled_name.empty() && names(code, state().miscompiled_name)) {
    ++state().miscompiled;
    break_arithmetic(code);
  }
  VkShaderModuleCreateInfo real = *info;
  real.pCode = code.data();
  return state().create_shader_module(device, &real, callbacks, module);
}

}  // namespace

PFN_vkVoidFunction shader_function(VkDevice device, std::string_view name) {
  if (name == "vkCreateShaderModule") return wrapped(state().create_shader_module, create_shader_module, device, name);
  return nullptr;
}

}  // namespace vellum::test::interposed

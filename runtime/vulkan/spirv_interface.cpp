#include "vulkan/spirv_interface.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "vellum/error.hpp"

namespace vellum::gpu {
namespace {

// Numbers of the specification's tables: instructions, decorations, a storage class.
enum Op : uint32_t {
  kOpName = 5,
  kOpMemberName = 6,
  kOpTypeInt = 21,
  kOpTypeFloat = 22,
  kOpTypeVector = 23,
  kOpTypeArray = 28,
  kOpTypeStruct = 30,
  kOpTypePointer = 32,
  kOpConstant = 43,
  kOpFunction = 54,
  kOpVariable = 59,
  kOpDecorate = 71,
  kOpMemberDecorate = 72,
};
constexpr uint32_t kDecorationBinding = 33, kDecorationOffset = 35, kStoragePushConstant = 9;
constexpr size_t kHeaderWords = 5;

using Member = std::pair<uint32_t, uint32_t>;  // struct, index

// The part of a module that precedes its functions.
struct Module {
  std::map<uint32_t, std::string> names, types;
  std::map<uint32_t, std::vector<uint32_t>> members;  // types of each struct
  std::map<Member, std::string> member_names;
  std::map<Member, uint32_t> offsets;
  std::map<uint32_t, uint32_t> constants, push_constant_pointers;  // pointer type to struct
  std::vector<uint32_t> bindings;
  uint32_t push_constants = 0;  // struct

  void add(uint32_t op, std::span<const uint32_t> operands);
};

// Strings end with a zero byte, within a word or after it.
std::string text(std::span<const uint32_t> words) {
  std::string result(reinterpret_cast<const char*>(words.data()), words.size_bytes());
  return result.substr(0, result.find('\0'));
}

void Module::add(uint32_t op, std::span<const uint32_t> operands) {
  const auto at = [&](size_t i) { return i < operands.size() ? operands[i] : 0; };
  const auto from = [&](size_t i) { return operands.subspan(std::min(i, operands.size())); };
  switch (op) {
    case kOpName:
      names[at(0)] = text(from(1));
      break;
    case kOpMemberName:
      member_names[{at(0), at(1)}] = text(from(2));
      break;
    case kOpTypeInt:
      types[at(0)] = at(2) == 0 ? "uint" : "int";
      break;
    case kOpTypeFloat:
      types[at(0)] = "float";
      break;
    case kOpTypeVector: {
      const std::string& component = types[at(1)];
      types[at(0)] = (component == "float" ? "" : component.substr(0, 1)) + "vec" + std::to_string(at(2));
      break;
    }
    case kOpTypeArray:
      types[at(0)] = types[at(1)] + "[" + std::to_string(constants[at(2)]) + "]";
      break;
    case kOpTypeStruct:
      members[at(0)].assign(from(1).begin(), from(1).end());
      break;
    case kOpTypePointer:
      if (at(1) == kStoragePushConstant) push_constant_pointers[at(0)] = at(2);
      break;
    case kOpConstant:
      constants[at(1)] = at(2);
      break;
    case kOpVariable:
      if (at(2) == kStoragePushConstant) push_constants = push_constant_pointers[at(0)];
      break;
    case kOpDecorate:
      if (at(1) == kDecorationBinding) bindings.push_back(at(2));
      break;
    case kOpMemberDecorate:
      if (at(2) == kDecorationOffset) offsets[{at(0), at(1)}] = at(3);
      break;
    default:
      break;
  }
}

Module read_declarations(std::span<const uint32_t> words) {
  Module module;
  for (size_t i = kHeaderWords; i < words.size();) {
    const uint32_t op = words[i] & 0xffff, length = words[i] >> 16;
    if (length == 0 || length > words.size() - i)
      throw Error(ErrorCode::internal, "a SPIR-V module ends within an instruction");
    if (op == kOpFunction) break;
    module.add(op, words.subspan(i + 1, length - 1));
    i += length;
  }
  return module;
}

}  // namespace

SpirvInterface read_spirv_interface(std::span<const uint32_t> words) {
  Module module = read_declarations(words);
  SpirvInterface result;
  result.bindings = std::move(module.bindings);
  std::ranges::sort(result.bindings);
  if (module.push_constants == 0) return result;
  const uint32_t block = module.push_constants;
  result.parameter_block = module.names[block];
  const std::vector<uint32_t>& types = module.members[block];
  for (uint32_t i = 0; i < types.size(); ++i)
    result.fields.push_back(
        {module.types[types[i]], module.member_names[{block, i}], module.offsets[{block, i}]});
  return result;
}

}  // namespace vellum::gpu

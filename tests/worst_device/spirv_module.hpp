// A SPIR-V module as a list of instructions, to be rewritten (SPIR-V specification, 2.3).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vellum::test {

// Numbers of the instructions that rewriting reads or adds (SPIR-V specification, 3.52), and of the extended
// instructions of GLSL.std.450.
namespace spirv {
inline constexpr uint32_t kExtInstImport = 11, kExtInst = 12, kMemoryModel = 14, kEntryPoint = 15,
                          kExecutionMode = 16, kCapability = 17, kTypeVoid = 19, kTypeBool = 20,
                          kTypeInt = 21, kTypeFloat = 22, kTypeVector = 23, kTypeMatrix = 24, kTypeImage = 25,
                          kTypeArray = 28, kTypeRuntimeArray = 29, kTypeStruct = 30, kTypePointer = 32,
                          kTypeFunction = 33, kConstantTrue = 41, kConstantFalse = 42, kConstant = 43,
                          kConstantComposite = 44, kFunction = 54, kFunctionParameter = 55, kFunctionEnd = 56,
                          kFunctionCall = 57, kVariable = 59, kLoad = 61, kStore = 62, kAccessChain = 65,
                          kInBoundsAccessChain = 66, kArrayLength = 68, kDecorate = 71, kMemberDecorate = 72,
                          kCompositeConstruct = 80, kCompositeExtract = 81, kImageFetch = 95, kImageRead = 98,
                          kImageQuerySizeLod = 103, kImageQuerySize = 104, kFConvert = 115, kBitcast = 124,
                          kIAdd = 128, kISub = 130, kIMul = 132, kFMul = 133, kUDiv = 134, kFDiv = 136,
                          kUMod = 137, kSMulExtended = 152, kAny = 154, kAll = 155, kIsNan = 156,
                          kIsInf = 157, kLogicalOr = 166, kLogicalAnd = 167, kSelect = 169, kIEqual = 170,
                          kINotEqual = 171, kULessThan = 176, kSLessThan = 177, kShiftRightLogical = 194,
                          kShiftRightArithmetic = 195, kShiftLeftLogical = 196, kBitwiseOr = 197,
                          kBitwiseXor = 198, kBitwiseAnd = 199, kControlBarrier = 224, kAtomicLoad = 227,
                          kAtomicStore = 228, kAtomicExchange = 229, kAtomicUMax = 239, kAtomicLast = 242,
                          kLoopMerge = 246, kSelectionMerge = 247, kLabel = 248, kBranch = 249,
                          kBranchConditional = 250, kReturn = 253, kReturnValue = 254;
inline constexpr uint32_t kSignedZeroInfNanPreserve = 4461;  // an execution mode
inline constexpr uint32_t kLocalSize = 17;                   // an execution mode
inline constexpr uint32_t kBlock = 2, kArrayStride = 6, kBuiltIn = 11, kBinding = 33, kDescriptorSet = 34,
                          kOffset = 35;  // decorations
inline constexpr uint32_t kScopeDevice = 1, kScopeWorkgroup = 2;
inline constexpr uint32_t kAcquireReleaseWorkgroup = 0x8 | 0x100;  // memory semantics
inline constexpr uint32_t kNumWorkgroups = 24, kWorkgroupId = 26, kLocalInvocationId = 27,
                          kGlobalInvocationId = 28, kLocalInvocationIndex = 29;  // built-ins
inline constexpr uint32_t kCapabilityImageQuery = 50, kCapabilitySubgroups = 61, kCapabilitySubgroupQuad = 68;
inline constexpr uint32_t kStorageInput = 1, kStorageWorkgroup = 4, kStoragePrivate = 6, kStorageFunction = 7,
                          kStorageBuffer = 12;
inline constexpr uint32_t kExtPow = 26, kExtExp = 27, kExtLog = 28, kExtExp2 = 29, kExtLog2 = 30,
                          kExtSqrt = 31, kExtInverseSqrt = 32, kExtPackHalf2x16 = 58;
}  // namespace spirv

struct Instruction {
  uint32_t opcode = 0;
  std::vector<uint32_t> operands;  // the words after the first
};

struct SpirvModule {
  std::vector<uint32_t> header;  // five words; the fourth is the bound of ids
  std::vector<Instruction> instructions;

  uint32_t new_id() { return header[3]++; }
};

// Throws std::runtime_error for words that are no module.
SpirvModule read_spirv(std::span<const uint32_t> words);
std::vector<uint32_t> write_spirv(const SpirvModule& module);

}  // namespace vellum::test

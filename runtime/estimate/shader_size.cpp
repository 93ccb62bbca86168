#include "estimate/shader_size.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace vellum {
namespace {

// SPIR-V 1.3 (unified), 2.3 "Physical Layout" and 3.32 "Instructions".
constexpr uint32_t kMagic = 0x07230203;
constexpr size_t kHeaderWords = 5;
constexpr uint32_t kUnroll = 1;  // of OpLoopMerge's loop control
enum Op : uint32_t {
  kEntryPoint = 15,
  kTypeVector = 23,
  kConstant = 43,
  kFunction = 54,
  kFunctionEnd = 56,
  kFunctionCall = 57,
  kVariable = 59,
  kLoad = 61,
  kStore = 62,
  kAccessChain = 65,
  kIAdd = 128,
  kUGreaterThan = 172,
  kSLessThanEqual = 179,
  kLoopMerge = 246,
  kSelectionMerge = 247,
  kLabel = 248,
  kBranch = 249,
  kBranchConditional = 250,
  kReturn = 253,
  kReturnValue = 254,
};
enum Comparison : uint32_t { kULessThan = 176, kSLessThan = 177, kULessThanEqual = 178 };

// Upper bounds. Vellum's shaders have up to 6,000 words and nest calls four deep; a bundle may contain any
// SPIR-V.
constexpr size_t kMostWords = 1 << 16;
constexpr int kDeepest = 64;

uint64_t times(uint64_t a, uint64_t b) { return b != 0 && a > kMostOperations / b ? kMostOperations : a * b; }

struct Instruction {
  uint32_t op = 0;
  std::span<const uint32_t> operands;
  uint32_t operand(size_t i) const { return i < operands.size() ? operands[i] : 0; }  // 0 is no id
};

struct Block {
  uint32_t label = 0;
  std::vector<Instruction> instructions;
};

struct Function {
  std::vector<Block> blocks;
  bool is_being_counted = false;  // SPIR-V knows no recursion; damaged files might
  std::optional<uint64_t> operations;
};

class Module {
 public:
  explicit Module(std::span<const uint32_t> words);
  uint64_t operations() { return of_function(entry_point_); }

 private:
  void add(const Instruction& instruction);
  uint64_t of_function(uint32_t id);
  uint64_t of_instruction(const Instruction& instruction);
  uint64_t trips(const std::vector<Block>& blocks, size_t header, size_t continued) const;
  std::optional<int64_t> constant(uint32_t id) const;

  std::map<uint32_t, uint32_t> components_;  // of vector types
  std::map<uint32_t, uint32_t> constants_;   // first word
  std::map<uint32_t, Function> functions_;
  Function* function_ = nullptr;  // that is being read
  uint32_t entry_point_ = 0;
  int depth_ = 0;  // of calls
};

Module::Module(std::span<const uint32_t> words) {
  if (words.size() < kHeaderWords || words.size() > kMostWords || words[0] != kMagic) return;
  for (size_t at = kHeaderWords; at < words.size();) {
    const size_t length = words[at] >> 16;
    if (length == 0 || length > words.size() - at) {
      functions_.clear();
      return;
    }
    add({words[at] & 0xffff, words.subspan(at + 1, length - 1)});
    at += length;
  }
}

void Module::add(const Instruction& instruction) {
  switch (instruction.op) {
    case kEntryPoint:
      entry_point_ = instruction.operand(1);
      return;
    case kTypeVector:
      components_[instruction.operand(0)] = instruction.operand(2);
      return;
    case kConstant:
      constants_[instruction.operand(1)] = instruction.operand(2);
      return;
    case kFunction:
      function_ = &functions_[instruction.operand(1)];
      return;
    case kFunctionEnd:
      function_ = nullptr;
      return;
    case kLabel:
      if (function_) function_->blocks.push_back({instruction.operand(0), {}});
      return;
    default:
      if (function_ && !function_->blocks.empty())
        function_->blocks.back().instructions.push_back(instruction);
  }
}

std::optional<int64_t> Module::constant(uint32_t id) const {
  const auto found = constants_.find(id);
  if (found == constants_.end()) return std::nullopt;
  return static_cast<int32_t>(found->second);
}

// Returns whether an instruction causes machine code. Instructions that only move values, or end a block, do
// not.
uint64_t Module::of_instruction(const Instruction& instruction) {
  switch (instruction.op) {
    case kVariable:
    case kLoad:
    case kStore:
    case kAccessChain:
    case kLoopMerge:
    case kSelectionMerge:
    case kBranch:
    case kBranchConditional:
    case kReturn:
    case kReturnValue:
      return 0;
    case kFunctionCall:
      return of_function(instruction.operand(2));
    default: {
      const auto vector = components_.find(instruction.operand(0));
      return vector == components_.end() ? 1 : std::clamp(vector->second, 1u, 4u);
    }
  }
}

// Returns the iterations of a loop; 1 for loops of other forms. glslang writes `for (int i = FROM; i < TO; i
// += STEP)` as a store before the header, a comparison in the block after it, and an addition in the continue
// block.
uint64_t Module::trips(const std::vector<Block>& blocks, size_t header, size_t continued) const {
  if (header + 1 >= blocks.size()) return 1;
  uint32_t loaded = 0, counter = 0;
  std::optional<int64_t> from, to;
  int64_t step = 1;
  for (const Instruction& i : blocks[header + 1].instructions) {
    if (i.op == kLoad && counter == 0) counter = i.operand(2), loaded = i.operand(1);
    if (i.op < kULessThan || i.op > kSLessThanEqual || i.operand(2) != loaded) continue;
    to = constant(i.operand(3));
    if (to && i.op >= kULessThanEqual) ++*to;
  }
  for (size_t b = 0; b <= header; ++b)
    for (const Instruction& i : blocks[b].instructions)
      if (i.op == kStore && i.operand(0) == counter) from = constant(i.operand(1));
  for (const Instruction& i : blocks[continued].instructions)
    if (i.op == kIAdd) step = constant(i.operand(3)).value_or(1);
  if (!from || !to || *to <= *from || step < 1) return 1;
  return static_cast<uint64_t>((*to - *from + step - 1) / step);
}

uint64_t Module::of_function(uint32_t id) {
  const auto found = functions_.find(id);
  if (found == functions_.end() || found->second.is_being_counted || depth_ == kDeepest) return 0;
  Function& function = found->second;
  if (function.operations) return *function.operations;
  function.is_being_counted = true;
  ++depth_;
  const std::vector<Block>& blocks = function.blocks;
  std::map<uint32_t, size_t> position;
  for (size_t i = 0; i < blocks.size(); ++i) position.try_emplace(blocks[i].label, i);
  std::vector<uint64_t> runs(blocks.size(), 1);  // copies of each block after unrolling
  for (size_t i = 0; i < blocks.size(); ++i)
    for (const Instruction& merge : blocks[i].instructions) {
      if (merge.op != kLoopMerge || !(merge.operand(2) & kUnroll)) continue;
      const auto end = position.find(merge.operand(0)), continued = position.find(merge.operand(1));
      if (end == position.end() || continued == position.end()) continue;
      const uint64_t count = trips(blocks, i, continued->second);
      for (size_t b = i; b < end->second; ++b) runs[b] = times(runs[b], count);
    }
  uint64_t sum = 0;
  for (size_t i = 0; i < blocks.size(); ++i)
    for (const Instruction& instruction : blocks[i].instructions)
      sum = std::min(kMostOperations, sum + times(runs[i], of_instruction(instruction)));
  function.operations = sum;
  function.is_being_counted = false;
  --depth_;
  return sum;
}

}  // namespace

uint64_t unrolled_operations(std::span<const uint32_t> spirv) { return Module(spirv).operations(); }

}  // namespace vellum

#include "worst_device/subgroups.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "worst_device/spirv_entry.hpp"

namespace vellum::test {
namespace {

// SPIR-V specification, 3.21 and 3.52.
constexpr uint32_t kSubgroupSize = 36, kNumSubgroups = 38, kSubgroupId = 40, kSubgroupInvocation = 41;
constexpr uint32_t kFirstGroupOp = 333, kBroadcast = 337, kLastGroupOp = 366;
constexpr uint32_t kFAdd = 129, kFOrdLessThan = 184, kFOrdGreaterThan = 186, kPhi = 245;

// The instruction that joins two values in a reduction.
uint32_t joining_opcode(uint32_t reduction) {
  static const std::map<uint32_t, uint32_t> opcodes{{349, spirv::kIAdd},       {350, kFAdd},
                                                    {351, spirv::kIMul},       {352, spirv::kFMul},
                                                    {355, kFOrdLessThan},      {358, kFOrdGreaterThan},
                                                    {359, spirv::kBitwiseAnd}, {360, spirv::kBitwiseOr},
                                                    {361, spirv::kBitwiseXor}};
  const auto found = opcodes.find(reduction);
  if (found == opcodes.end())
    throw std::runtime_error("subgroups are not emulated for SPIR-V's instruction " +
                             std::to_string(reduction));
  return found->second;
}

class SubgroupEmulation {
 public:
  SubgroupEmulation(SpirvModule& module, uint32_t size) : module_(module), builder_(module), size_(size) {
    for (const Instruction& i : module.instructions)
      if (i.opcode == spirv::kExecutionMode && i.operands[1] == spirv::kLocalSize)
        invocations_ = i.operands[2] * i.operands[3] * i.operands[4];
  }

  void run() {
    if (!builder_.has_capability(spirv::kCapabilitySubgroups, spirv::kCapabilitySubgroupQuad)) return;
    index_ = builder_.make_builtin(spirv::kLocalInvocationIndex, type());
    std::vector<Instruction> before = number_invocations();
    for (Instruction& i : std::exchange(module_.instructions, {})) rewrite(std::move(i));
    module_.instructions = std::move(body_);
    std::ranges::move(functions_, std::back_inserter(module_.instructions));
    wrap_entry_point(module_, std::move(before), {});
    builder_.finish();
  }

 private:
  uint32_t type() { return builder_.uint_type(); }
  uint32_t number(uint32_t value) { return builder_.constant(type(), value); }

  // Fills variables that are read in place of the built-ins.
  std::vector<Instruction> number_invocations() {
    std::vector<Instruction> before;
    const uint32_t index = builder_.add(before, spirv::kLoad, type(), {index_});
    const auto op = [&](uint32_t opcode) {
      return builder_.add(before, opcode, type(), {index, number(size_)});
    };
    const std::pair<uint32_t, uint32_t> values[] = {{kSubgroupSize, number(size_)},
                                                    {kNumSubgroups, number(invocations_ / size_)},
                                                    {kSubgroupId, op(spirv::kUDiv)},
                                                    {kSubgroupInvocation, op(spirv::kUMod)}};
    for (const auto& [number, value] : values) {
      const auto builtin = builder_.builtin(number);
      if (!builtin) continue;
      replaced_[*builtin] = builder_.private_variable(type());
      before.push_back({spirv::kStore, {replaced_[*builtin], value}});
    }
    return before;
  }

  void rewrite(Instruction i) {
    std::vector<uint32_t>& o = i.operands;
    if (i.opcode == spirv::kCapability && o[0] >= spirv::kCapabilitySubgroups &&
        o[0] <= spirv::kCapabilitySubgroupQuad)
      return;
    if (i.opcode == spirv::kVariable && replaced_.contains(o[1])) return;
    constexpr uint32_t kName = 5;
    if ((i.opcode == spirv::kDecorate || i.opcode == kName) && replaced_.contains(o[0])) return;
    if (i.opcode == spirv::kEntryPoint)
      o.erase(std::remove_if(o.begin() + interface_of(i), o.end(),
                             [&](uint32_t id) { return replaced_.contains(id); }),
              o.end());
    if (i.opcode == spirv::kLoad && replaced_.contains(o[2])) o[2] = replaced_.at(o[2]);
    if (i.opcode >= kFirstGroupOp && i.opcode <= kLastGroupOp) return call(i);
    body_.push_back(std::move(i));
  }

  // Returns the position of the variables, which follow the word with the last byte, zero, of a name.
  static ptrdiff_t interface_of(const Instruction& entry) {
    size_t at = 2;
    constexpr uint32_t kLastByte = 0xff000000;
    while ((entry.operands[at] & kLastByte) != 0) ++at;
    return static_cast<ptrdiff_t>(at + 1);
  }

  void call(const Instruction& i) {
    const std::vector<uint32_t>& o = i.operands;
    constexpr uint32_t kReduce = 0;
    const bool broadcast = i.opcode == kBroadcast;
    if (!broadcast && (o.size() != 5 || o[3] != kReduce))
      throw std::runtime_error("subgroups are not emulated for scans and clusters");
    uint32_t& function = functions_of_[{i.opcode, o[0]}];
    if (function == 0) function = broadcast ? broadcast_function(o[0]) : reduction(i.opcode, o[0]);
    if (broadcast)
      body_.push_back({spirv::kFunctionCall, {o[0], o[1], function, o[3], o[4]}});
    else
      body_.push_back({spirv::kFunctionCall, {o[0], o[1], function, o[4]}});
  }

  // Appends to the functions.
  uint32_t add(uint32_t opcode, uint32_t result, std::vector<uint32_t> operands) {
    return builder_.add(functions_, opcode, result, std::move(operands));
  }
  void put(uint32_t opcode, std::vector<uint32_t> operands) {
    functions_.push_back({opcode, std::move(operands)});
  }
  void put_barrier() {
    const uint32_t workgroup = number(spirv::kScopeWorkgroup);
    put(spirv::kControlBarrier, {workgroup, workgroup, number(spirv::kAcquireReleaseWorkgroup)});
  }

  uint32_t element(uint32_t value_type, uint32_t index) {
    uint32_t& scratch = scratch_[value_type];
    if (scratch == 0)
      scratch = builder_.variable(spirv::kStorageWorkgroup,
                                  builder_.add_type(spirv::kTypeArray, {value_type, number(invocations_)}));
    const uint32_t pointer = builder_.make_type(spirv::kTypePointer, {spirv::kStorageWorkgroup, value_type});
    return add(spirv::kAccessChain, pointer, {scratch, index});
  }

  // Begins a function that shares its first parameter among the subgroup. Returns the function, and the index
  // of the subgroup's first invocation.
  struct Begun {
    uint32_t function = 0, first = 0, label = 0, lane = 0;
  };
  Begun begin(uint32_t value_type, bool takes_lane) {
    std::vector<uint32_t> signature{value_type, value_type};
    if (takes_lane) signature.push_back(type());
    Begun begun{.function = 0, .label = module_.new_id()};
    const uint32_t function_type = builder_.make_type(spirv::kTypeFunction, signature);
    begun.function = add(spirv::kFunction, value_type, {0, function_type});
    const uint32_t value = add(spirv::kFunctionParameter, value_type, {});
    if (takes_lane) begun.lane = add(spirv::kFunctionParameter, type(), {});
    put(spirv::kLabel, {begun.label});
    const uint32_t index = add(spirv::kLoad, type(), {index_});
    const uint32_t lane = add(spirv::kUMod, type(), {index, number(size_)});
    begun.first = add(spirv::kISub, type(), {index, lane});
    put(spirv::kStore, {element(value_type, index), value});
    put_barrier();
    return begun;
  }
  // Nobody changes the shared values before all have read them.
  void end(uint32_t result) {
    put_barrier();
    put(spirv::kReturnValue, {result});
    put(spirv::kFunctionEnd, {});
  }

  uint32_t broadcast_function(uint32_t value_type) {
    const Begun begun = begin(value_type, true);
    const uint32_t index = add(spirv::kIAdd, type(), {begun.first, begun.lane});
    end(add(spirv::kLoad, value_type, {element(value_type, index)}));
    return begun.function;
  }

  uint32_t join(uint32_t opcode, uint32_t value_type, uint32_t a, uint32_t b) {
    if (opcode != kFOrdLessThan && opcode != kFOrdGreaterThan) return add(opcode, value_type, {a, b});
    const uint32_t wins = add(opcode, builder_.bool_type(builder_.components(value_type)), {a, b});
    return add(spirv::kSelect, value_type, {wins, a, b});
  }

  uint32_t reduction(uint32_t opcode, uint32_t value_type) {
    const uint32_t joining = joining_opcode(opcode);
    const Begun begun = begin(value_type, false);
    const uint32_t first = add(spirv::kLoad, value_type, {element(value_type, begun.first)});
    const uint32_t head = module_.new_id(), test = module_.new_id(), loop = module_.new_id(),
                   next = module_.new_id(), after = module_.new_id();
    const uint32_t joined = module_.new_id(), counted = module_.new_id();
    put(spirv::kBranch, {head});
    put(spirv::kLabel, {head});
    const uint32_t sum = add(kPhi, value_type, {first, begun.label, joined, next});
    const uint32_t count = add(kPhi, type(), {number(1), begun.label, counted, next});
    put(spirv::kLoopMerge, {after, next, 0});
    put(spirv::kBranch, {test});
    put(spirv::kLabel, {test});
    const uint32_t more = add(spirv::kULessThan, builder_.bool_type(1), {count, number(size_)});
    put(spirv::kBranchConditional, {more, loop, after});
    put(spirv::kLabel, {loop});
    const uint32_t index = add(spirv::kIAdd, type(), {begun.first, count});
    const uint32_t other = add(spirv::kLoad, value_type, {element(value_type, index)});
    join(joining, value_type, sum, other);
    functions_.back().operands[1] = joined;
    put(spirv::kBranch, {next});
    put(spirv::kLabel, {next});
    put(spirv::kIAdd, {type(), counted, count, number(1)});
    put(spirv::kBranch, {head});
    put(spirv::kLabel, {after});
    end(sum);
    return begun.function;
  }

  SpirvModule& module_;
  SpirvBuilder builder_;
  const uint32_t size_;
  uint32_t invocations_ = 1, index_ = 0;
  std::vector<Instruction> body_, functions_;
  std::map<uint32_t, uint32_t> replaced_, scratch_;  // by built-in variable, by type
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> functions_of_;
};

}  // namespace

void emulate_subgroups(SpirvModule& module, uint32_t size) { SubgroupEmulation(module, size).run(); }

}  // namespace vellum::test

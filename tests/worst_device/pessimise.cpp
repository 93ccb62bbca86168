#include "worst_device/pessimise.hpp"

#include <bit>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "platform/fingerprint.hpp"
#include "worst_device/execution_order.hpp"
#include "worst_device/finding_marks.hpp"
#include "worst_device/out_of_bounds.hpp"
#include "worst_device/shared_garbage.hpp"
#include "worst_device/shared_races.hpp"
#include "worst_device/signed_overflow.hpp"
#include "worst_device/spirv_module.hpp"
#include "worst_device/subgroups.hpp"

namespace vellum::test {
namespace {

class Pessimiser {
 public:
  Pessimiser(SpirvModule& module, const Allowances& allowances) : module_(module), allowed_(allowances) {}

  void run() {
    read_types();
    std::vector<Instruction> before = std::exchange(module_.instructions, {});
    for (Instruction& instruction : before) {
      if (instruction.opcode == spirv::kFunction && !first_function_) first_function_ = body_.size();
      rewrite(std::move(instruction));
    }
    const size_t at = first_function_.value_or(body_.size());
    body_.insert(body_.begin() + static_cast<ptrdiff_t>(at), std::make_move_iterator(constants_.begin()),
                 std::make_move_iterator(constants_.end()));
    module_.instructions = std::move(body_);
  }

 private:
  void read_types() {
    for (const Instruction& i : module_.instructions) {
      const std::vector<uint32_t>& o = i.operands;
      switch (i.opcode) {
        case spirv::kTypeFloat:
        case spirv::kTypeInt:
        case spirv::kTypeBool:
        case spirv::kTypeVector:
        case spirv::kTypeMatrix:
        case spirv::kTypeArray:
        case spirv::kTypeStruct:
        case spirv::kTypePointer:
          types_[o[0]] = i;
          break;
        case spirv::kConstant:
          types_of_[o[1]] = o[0];
          integers_[o[1]] = o[2];
          break;
        case spirv::kExtInstImport:
          glsl_ = o[0];
          break;
        case spirv::kExecutionMode:
          if (o[1] == spirv::kSignedZeroInfNanPreserve) declared_ = true;
          break;
        default:
          break;
      }
    }
  }

  // The components of a type of 32-bit floats; 0 for another type.
  uint32_t float32(uint32_t type) const {
    const auto found = types_.find(type);
    if (found == types_.end()) return 0;
    const Instruction& i = found->second;
    if (i.opcode == spirv::kTypeFloat && i.operands[1] == 32) return 1;
    if (i.opcode == spirv::kTypeVector && float32(i.operands[1])) return i.operands[2];
    return 0;
  }

  uint32_t element_type(uint32_t type) const {
    const Instruction& i = types_.at(type);
    return i.opcode == spirv::kTypeVector ? i.operands[1] : type;
  }

  uint32_t constant(Instruction made) {
    const auto key = std::pair(made.opcode, made.operands);
    uint32_t& id = made_[key];
    if (id != 0) return id;
    id = module_.new_id();
    made.operands.insert(made.operands.begin() + 1, id);
    constants_.push_back(std::move(made));
    return id;
  }

  // A constant of a scalar type, or with the same value in all components of a vector.
  uint32_t splat(uint32_t type, uint32_t bits) {
    const Instruction& i = types_.at(type);
    if (i.opcode != spirv::kTypeVector) return constant({spirv::kConstant, {type, bits}});
    const uint32_t component = splat(i.operands[1], bits);
    Instruction made{spirv::kConstantComposite, {type}};
    made.operands.insert(made.operands.end(), i.operands[2], component);
    return constant(std::move(made));
  }
  uint32_t splat(uint32_t type, float value) { return splat(type, std::bit_cast<uint32_t>(value)); }

  uint32_t find_type(uint32_t opcode, const std::vector<uint32_t>& operands) {
    for (const auto& [id, type] : types_)
      if (type.opcode == opcode && std::equal(operands.begin(), operands.end(), type.operands.begin() + 1))
        return id;
    const uint32_t id = module_.new_id();
    Instruction made{opcode, {id}};
    made.operands.insert(made.operands.end(), operands.begin(), operands.end());
    types_[id] = made;
    constants_.push_back(std::move(made));
    return id;
  }

  uint32_t bits_type(uint32_t components) {
    const uint32_t scalar = find_type(spirv::kTypeInt, {32, 0});
    return components == 1 ? scalar : find_type(spirv::kTypeVector, {scalar, components});
  }

  uint32_t add(uint32_t opcode, uint32_t type, std::vector<uint32_t> operands) {
    const uint32_t id = module_.new_id();
    operands.insert(operands.begin(), {type, id});
    body_.push_back({opcode, std::move(operands)});
    return id;
  }

  void rewrite(Instruction i) {
    switch (i.opcode) {
      case spirv::kFDiv:
        if (allowed_.division && float32(i.operands[0])) return divide(i);
        break;
      case spirv::kExtInst:
        if (i.operands[2] == glsl_ && rewrite_function(i)) return;
        break;
      case spirv::kFConvert:
        if (allowed_.truncating_halves && !float32(i.operands[0])) truncate(i, 2);
        break;
      case spirv::kIsNan:
      case spirv::kIsInf:
        if (allowed_.no_special_values && !declared_) return answer_false(i);
        break;
      case spirv::kVariable:
        if (allowed_.uninitialised_variables && i.operands.size() == 3) return declare(std::move(i));
        break;
      default:
        break;
    }
    note_type(i);
    body_.push_back(std::move(i));
  }

  // The types of results that may be converted to halves.
  void note_type(const Instruction& i) {
    if (i.operands.size() >= 2 && float32(i.operands[0])) types_of_[i.operands[1]] = i.operands[0];
  }

  void divide(const Instruction& i) {
    const uint32_t type = i.operands[0];
    constexpr float kBelowOne = 1.0f - 0x1p-24f;
    const uint32_t exact = add(spirv::kFDiv, type, {splat(type, 1.0f), i.operands[3]});
    const uint32_t reciprocal = add(spirv::kFMul, type, {exact, splat(type, kBelowOne)});
    types_of_[i.operands[1]] = type;
    body_.push_back({spirv::kFMul, {type, i.operands[1], i.operands[2], reciprocal}});
  }

  bool rewrite_function(Instruction& i) {
    const uint32_t function = i.operands[3];
    if (function == spirv::kExtPackHalf2x16 && allowed_.truncating_halves) {
      truncate(i, 4);
      body_.push_back(std::move(i));
      return true;
    }
    const bool inexact = function >= spirv::kExtPow && function <= spirv::kExtInverseSqrt;
    if (!inexact || !allowed_.functions || !float32(i.operands[0])) return false;
    const uint32_t type = i.operands[0], result = i.operands[1];
    const uint32_t exact = i.operands[1] = module_.new_id();
    body_.push_back(std::move(i));
    types_of_[result] = type;
    body_.push_back({spirv::kFMul, {type, result, exact, splat(type, 1.0f - 0x1p-23f)}});
    return true;
  }

  // Clears the bits of operand `index` that a half has no room for.
  void truncate(Instruction& i, size_t index) {
    const uint32_t value = i.operands[index];
    const auto known = types_of_.find(value);
    const uint32_t components = i.opcode == spirv::kExtInst ? 2
                                : known != types_of_.end()  ? float32(known->second)
                                                            : 0;
    if (components == 0) return;
    constexpr uint32_t kKept = 0xffffe000;
    const uint32_t bits = bits_type(components);
    const uint32_t float_scalar = find_type(spirv::kTypeFloat, {32});
    const uint32_t type =
        components == 1 ? float_scalar : find_type(spirv::kTypeVector, {float_scalar, components});
    const uint32_t all = add(spirv::kBitcast, bits, {value});
    const uint32_t kept = add(spirv::kBitwiseAnd, bits, {all, splat(bits, kKept)});
    i.operands[index] = add(spirv::kBitcast, type, {kept});
  }

  void answer_false(const Instruction& i) {
    const uint32_t type = i.operands[0];
    const Instruction& result = types_.at(type);
    uint32_t value = constant({spirv::kConstantFalse, {element_type(type)}});
    if (result.opcode == spirv::kTypeVector) {
      Instruction made{spirv::kConstantComposite, {type}};
      made.operands.insert(made.operands.end(), result.operands[2], value);
      value = constant(std::move(made));
    }
    constexpr uint32_t kCopyObject = 83;
    body_.push_back({kCopyObject, {type, i.operands[1], value}});
  }

  // A value that no shader would choose, or 0 for a type that has none here.
  uint32_t garbage(uint32_t type) {
    const auto found = types_.find(type);
    if (found == types_.end()) return 0;
    const Instruction t = found->second;
    constexpr float kGarbage = -7.25e18f;
    if (t.opcode == spirv::kTypeFloat) return t.operands[1] == 32 ? splat(type, kGarbage) : 0;
    if (t.opcode == spirv::kTypeInt) return t.operands[1] == 32 ? splat(type, 0x6b6b6b6bu) : 0;
    if (t.opcode == spirv::kTypeBool) return constant({spirv::kConstantTrue, {type}});
    Instruction made{spirv::kConstantComposite, {type}};
    if (t.opcode == spirv::kTypeStruct) {
      for (size_t i = 1; i < t.operands.size(); ++i) made.operands.push_back(garbage(t.operands[i]));
    } else if (t.opcode == spirv::kTypeVector || t.opcode == spirv::kTypeMatrix ||
               t.opcode == spirv::kTypeArray) {
      const uint32_t count = t.opcode == spirv::kTypeArray ? length_of(t.operands[2]) : t.operands[2];
      made.operands.insert(made.operands.end(), count, garbage(t.operands[1]));
    } else {
      return 0;
    }
    for (const uint32_t part : made.operands)
      if (part == 0) return 0;
    if (made.operands.size() == 1) return 0;
    return constant(std::move(made));
  }

  // 0 where the length is a specialisation constant.
  uint32_t length_of(uint32_t constant_id) const {
    const auto found = integers_.find(constant_id);
    return found == integers_.end() ? 0 : found->second;
  }

  void declare(Instruction i) {
    const uint32_t storage = i.operands[2];
    if (storage == spirv::kStorageFunction || storage == spirv::kStoragePrivate)
      if (const uint32_t value = garbage(types_.at(i.operands[0]).operands[2])) {
        // Constants of variables outside of functions stand before the variable.
        if (!first_function_) {
          body_.insert(body_.end(), std::make_move_iterator(constants_.begin()),
                       std::make_move_iterator(constants_.end()));
          constants_.clear();
        }
        i.operands.push_back(value);
      }
    body_.push_back(std::move(i));
  }

  SpirvModule& module_;
  const Allowances allowed_;
  std::map<uint32_t, Instruction> types_;
  std::map<uint32_t, uint32_t> types_of_, integers_;
  std::map<std::pair<uint32_t, std::vector<uint32_t>>, uint32_t> made_;
  std::vector<Instruction> constants_, body_;
  std::optional<size_t> first_function_;
  uint32_t glsl_ = 0;
  bool declared_ = false;
};

void add_checks(SpirvModule& module, const Allowances& allowances, uint32_t slot) {
  SpirvBuilder builder(module);
  FindingMarks marks(module, builder, slot);
  if (allowances.signed_overflow) find_signed_overflow(module, builder, marks);
  std::vector<Instruction> before;
  if (allowances.shared_races) before = find_shared_races(module, builder, marks);
  marks.finish(std::move(before));
  builder.finish();
}

WorkgroupOrder order_of(const Allowances& allowances) {
  return allowances.mixed_workgroups      ? WorkgroupOrder::mixed
         : allowances.reversed_workgroups ? WorkgroupOrder::reversed
                                          : WorkgroupOrder::as_numbered;
}

}  // namespace

Allowances parse_allowances(std::string_view list) {
  Allowances allowances;
  const std::pair<std::string_view, bool Allowances::*> names[] = {
      {"division", &Allowances::division},
      {"functions", &Allowances::functions},
      {"truncating_halves", &Allowances::truncating_halves},
      {"no_special_values", &Allowances::no_special_values},
      {"uninitialised_variables", &Allowances::uninitialised_variables},
      {"uninitialised_shared", &Allowances::uninitialised_shared},
      {"uninitialised_memory", &Allowances::uninitialised_memory},
      {"reversed_workgroups", &Allowances::reversed_workgroups},
      {"mixed_workgroups", &Allowances::mixed_workgroups},
      {"reversed_invocations", &Allowances::reversed_invocations},
      {"out_of_bounds", &Allowances::out_of_bounds},
      {"bar_heap", &Allowances::bar_heap},
      {"recycled_memory", &Allowances::recycled_memory},
      {"shared_races", &Allowances::shared_races},
      {"signed_overflow", &Allowances::signed_overflow}};
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(','));
    list.remove_prefix(std::min(name.size() + 1, list.size()));
    bool known = false;
    for (const auto& [text, member] : names)
      if (name == text || name == "all") allowances.*member = known = true;
    for (const uint32_t size : {16u, 32u, 64u, 128u})
      if (name == "subgroups_" + std::to_string(size)) {
        allowances.subgroup_size = size;
        known = true;
      }
    if (!known) throw std::runtime_error("no device is allowed " + std::string(name));
  }
  return allowances;
}

uint32_t finding_slot(std::span<const uint32_t> words) {
  return static_cast<uint32_t>(platform::fingerprint(std::as_bytes(words)).low % kFindingSlots);
}

std::vector<uint32_t> pessimise(std::span<const uint32_t> words, const Allowances& allowances) {
  SpirvModule module = read_spirv(words);
  if (allowances.has_findings()) add_checks(module, allowances, finding_slot(words));
  if (allowances.uninitialised_shared) fill_shared_memory(module);  // before the checks begin
  if (allowances.subgroup_size > 0) emulate_subgroups(module, allowances.subgroup_size);
  if (allowances.out_of_bounds) read_garbage_out_of_bounds(module);
  change_order(module, order_of(allowances), allowances.reversed_invocations);
  Pessimiser(module, allowances).run();
  return write_spirv(module);
}

}  // namespace vellum::test

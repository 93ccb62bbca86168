#include "worst_device/spirv_builder.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace vellum::test {

SpirvBuilder::SpirvBuilder(SpirvModule& module) : module_(module) {
  for (const Instruction& instruction : module.instructions) note(instruction);
}

void SpirvBuilder::note(const Instruction& i) {
  const std::vector<uint32_t>& o = i.operands;
  if (i.opcode == spirv::kCapability) capabilities_[o[0]] = true;
  if (i.opcode == spirv::kDecorate && o[1] == spirv::kBuiltIn) builtins_[o[2]] = o[0];
  if (i.opcode >= spirv::kTypeBool && i.opcode <= spirv::kTypeFunction) {
    types_[o[0]] = {i.opcode, {o.begin() + 1, o.end()}};
    return;
  }
  // Types are the first operand only of instructions with a result.
  if (o.size() >= 2 && types_.contains(o[0])) types_of_[o[1]] = o[0];
  if (i.opcode == spirv::kConstant) constants_[o[1]] = o[2];
}

const SpirvType* SpirvBuilder::type(uint32_t id) const {
  const auto found = types_.find(id);
  return found == types_.end() ? nullptr : &found->second;
}

uint32_t SpirvBuilder::type_of(uint32_t value) const {
  const auto found = types_of_.find(value);
  return found == types_of_.end() ? 0 : found->second;
}

uint32_t SpirvBuilder::components(uint32_t id) const {
  const SpirvType& found = types_.at(id);
  return found.opcode == spirv::kTypeVector ? found.operands[1] : 1;
}

std::optional<uint32_t> SpirvBuilder::builtin(uint32_t number) const {
  const auto found = builtins_.find(number);
  return found == builtins_.end() ? std::nullopt : std::optional(found->second);
}

bool SpirvBuilder::has_capability(uint32_t least, uint32_t greatest) const {
  const auto found = capabilities_.lower_bound(least);
  return found != capabilities_.end() && found->first <= greatest;
}

std::optional<uint32_t> SpirvBuilder::constant_value(uint32_t id) const {
  const auto found = constants_.find(id);
  return found == constants_.end() ? std::nullopt : std::optional(found->second);
}

uint32_t SpirvBuilder::make_type(uint32_t opcode, const std::vector<uint32_t>& operands) {
  for (const auto& [id, known] : types_)
    if (known.opcode == opcode && known.operands == operands) return id;
  return add_type(opcode, operands);
}

uint32_t SpirvBuilder::add_type(uint32_t opcode, const std::vector<uint32_t>& operands) {
  const uint32_t id = module_.new_id();
  Instruction made{opcode, {id}};
  made.operands.insert(made.operands.end(), operands.begin(), operands.end());
  types_[id] = {opcode, operands};
  globals_.push_back(std::move(made));
  return id;
}

uint32_t SpirvBuilder::uint_vector_type(uint32_t count) {
  return count == 1 ? uint_type() : make_type(spirv::kTypeVector, {uint_type(), count});
}

uint32_t SpirvBuilder::bool_type(uint32_t count) {
  const uint32_t scalar = make_type(spirv::kTypeBool, {});
  return count == 1 ? scalar : make_type(spirv::kTypeVector, {scalar, count});
}

uint32_t SpirvBuilder::constant(uint32_t scalar_type, uint32_t bits) {
  for (const auto& [id, value] : constants_)
    if (value == bits && type_of(id) == scalar_type) return id;
  const uint32_t id = module_.new_id();
  globals_.push_back({spirv::kConstant, {scalar_type, id, bits}});
  note(globals_.back());
  return id;
}

uint32_t SpirvBuilder::splat(uint32_t id, uint32_t bits) {
  const uint32_t count = components(id);
  if (count == 1) return constant(id, bits);
  const uint32_t component = constant(types_.at(id).operands[0], bits);
  Instruction made{spirv::kConstantComposite, {id, module_.new_id()}};
  made.operands.insert(made.operands.end(), count, component);
  globals_.push_back(std::move(made));
  return globals_.back().operands[1];
}

uint32_t SpirvBuilder::make_builtin(uint32_t number, uint32_t type) {
  if (const auto known = builtin(number)) return *known;
  const uint32_t pointer = make_type(spirv::kTypePointer, {spirv::kStorageInput, type});
  const uint32_t id = module_.new_id();
  globals_.push_back({spirv::kVariable, {pointer, id, spirv::kStorageInput}});
  decorations_.push_back({spirv::kDecorate, {id, spirv::kBuiltIn, number}});
  builtins_[number] = id;
  add_to_interface(id);
  return id;
}

void SpirvBuilder::make_capability(uint32_t capability) {
  if (has_capability(capability, capability)) return;
  capabilities_[capability] = true;
  module_.instructions.insert(module_.instructions.begin(), {spirv::kCapability, {capability}});
}

// From version 1.4 on the interface lists all global variables, before only inputs and outputs.
uint32_t SpirvBuilder::variable(uint32_t storage, uint32_t type) {
  const uint32_t pointer = make_type(spirv::kTypePointer, {storage, type});
  const uint32_t id = module_.new_id();
  globals_.push_back({spirv::kVariable, {pointer, id, storage}});
  types_of_[id] = pointer;
  constexpr uint32_t kVersion1_4 = 0x00010400;
  if (module_.header[1] >= kVersion1_4) add_to_interface(id);
  return id;
}

void SpirvBuilder::decorate(std::vector<uint32_t> operands) {
  decorations_.push_back({spirv::kDecorate, std::move(operands)});
}

void SpirvBuilder::decorate_member(std::vector<uint32_t> operands) {
  decorations_.push_back({spirv::kMemberDecorate, std::move(operands)});
}

void SpirvBuilder::add_to_interface(uint32_t variable) {
  for (Instruction& i : module_.instructions)
    if (i.opcode == spirv::kEntryPoint) i.operands.push_back(variable);
}

uint32_t SpirvBuilder::add(std::vector<Instruction>& to, uint32_t opcode, uint32_t type,
                           std::vector<uint32_t> operands) {
  const uint32_t id = module_.new_id();
  operands.insert(operands.begin(), {type, id});
  to.push_back({opcode, std::move(operands)});
  types_of_[id] = type;
  return id;
}

void SpirvBuilder::finish() {
  std::vector<Instruction>& all = module_.instructions;
  const auto insert = [&](auto at, std::vector<Instruction>& added) {
    all.insert(at, std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
    added.clear();
  };
  insert(std::ranges::find(all, spirv::kFunction, &Instruction::opcode), globals_);
  const auto is_type = [](const Instruction& i) {
    return i.opcode >= spirv::kTypeVoid && i.opcode <= spirv::kTypePointer;
  };
  insert(std::ranges::find_if(all, is_type), decorations_);
}

}  // namespace vellum::test

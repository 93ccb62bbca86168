// Adds types, constants, variables and built-ins to a SPIR-V module that is rewritten.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "worst_device/spirv_module.hpp"

namespace vellum::test {

// A type, as operands of its instruction without the result.
struct SpirvType {
  uint32_t opcode = 0;
  std::vector<uint32_t> operands;
};

class SpirvBuilder {
 public:
  explicit SpirvBuilder(SpirvModule& module);

  // Null for an id that is no type.
  const SpirvType* type(uint32_t id) const;
  // The type of a value or variable; 0 if it is not known.
  uint32_t type_of(uint32_t value) const;
  // The components of a vector, 1 for a scalar.
  uint32_t components(uint32_t type) const;
  // The variable with the built-in's decoration, if the module has one.
  std::optional<uint32_t> builtin(uint32_t number) const;
  bool has_capability(uint32_t least, uint32_t greatest) const;
  std::optional<uint32_t> constant_value(uint32_t id) const;

  // Each returns what the module has, or adds it.
  uint32_t make_type(uint32_t opcode, const std::vector<uint32_t>& operands);
  uint32_t uint_type() { return make_type(spirv::kTypeInt, {32, 0}); }
  uint32_t uint_vector_type(uint32_t components);
  uint32_t bool_type(uint32_t components);
  uint32_t constant(uint32_t scalar_type, uint32_t bits);
  uint32_t splat(uint32_t type, uint32_t bits);  // in all components of a vector
  uint32_t make_builtin(uint32_t number, uint32_t type);
  void make_capability(uint32_t capability);
  uint32_t private_variable(uint32_t type) { return variable(spirv::kStoragePrivate, type); }
  uint32_t variable(uint32_t storage, uint32_t type);
  // A type that differs from all others, to be decorated or because others of its kind are.
  uint32_t add_type(uint32_t opcode, const std::vector<uint32_t>& operands);
  void decorate(std::vector<uint32_t> operands);
  void decorate_member(std::vector<uint32_t> operands);

  // Appends an instruction with a result to `to` and returns the result.
  uint32_t add(std::vector<Instruction>& to, uint32_t opcode, uint32_t type, std::vector<uint32_t> operands);

  // Puts what was added into the module.
  void finish();

 private:
  void note(const Instruction& instruction);
  void add_to_interface(uint32_t variable);

  SpirvModule& module_;
  std::map<uint32_t, SpirvType> types_;
  std::map<uint32_t, uint32_t> types_of_, builtins_, constants_;
  std::map<uint32_t, bool> capabilities_;
  std::vector<Instruction> globals_, decorations_;
};

}  // namespace vellum::test

// The interface of a compiled shader, push constants and bindings, read from the names and decorations of a
// SPIR-V module (SPIR-V specification, section 3).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace vellum::gpu {

struct SpirvInterface {
  struct Field {
    std::string type;  // as in GLSL: "int", "float", "ivec4", "int[6]"
    std::string name;
    uint32_t offset = 0;  // bytes
    bool operator==(const Field&) const = default;
  };
  std::string parameter_block;  // name of the push constant block; empty without one or if stripped
  std::vector<Field> fields;
  std::vector<uint32_t> bindings;  // binding numbers, ascending
};

// Throws Error(internal) for a module that ends within an instruction.
SpirvInterface read_spirv_interface(std::span<const uint32_t> words);

}  // namespace vellum::gpu

// Compiles GLSL to SPIR-V with glslang, and validates SPIR-V.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vellum::gpu {

// Keeps glslang's process-wide tables alive. Building them takes about 66 ms.
class GlslangProcess {
 public:
  GlslangProcess();
  ~GlslangProcess();
  GlslangProcess(const GlslangProcess&) = delete;
  GlslangProcess& operator=(const GlslangProcess&) = delete;
};

// Returns the text of an included file, given the name in the #include. Returns nothing for an unknown name.
using FindInclude = std::function<std::optional<std::string_view>(std::string_view name)>;

// Compiles a shader to SPIR-V 1.3 for Vulkan 1.1. Needs a GlslangProcess; thread-safe. `preamble`: lines to
// insert after #version. Throws Error(internal) with glslang's log, which names `name`.
std::vector<uint32_t> compile_glsl(const std::string& name, std::string_view source,
                                   const std::string& preamble, const FindInclude& find_include);

// Returns whether this library has a compiler; without one compile_glsl() throws Error(unsupported).
bool compiles_shaders();

// Returns the errors of SPIRV-Tools' validator for a module for Vulkan 1.1. Empty: the module is valid, or
// this library lacks the validator.
std::string spirv_fault(std::span<const uint32_t> words);

// Returns a version that changes whenever glslang may produce different SPIR-V.
std::string glslang_version();

bool knows_khr_cooperative_matrix();  // whether glslang supports GL_KHR_cooperative_matrix

}  // namespace vellum::gpu

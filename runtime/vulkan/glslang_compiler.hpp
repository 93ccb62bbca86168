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

// Keeps glslang's process-wide tables alive, which take about 66 ms to build.
class GlslangProcess {
 public:
  GlslangProcess();
  ~GlslangProcess();
  GlslangProcess(const GlslangProcess&) = delete;
  GlslangProcess& operator=(const GlslangProcess&) = delete;
};

// Returns the text of an included file by its name in quotes; nothing if there is none.
using FindInclude = std::function<std::optional<std::string_view>(std::string_view name)>;

// Compiles a shader to SPIR-V 1.3 for Vulkan 1.1. Needs a GlslangProcess; thread-safe. `preamble`: lines to
// insert after #version. Throws Error(internal) with glslang's log, which names `name`.
std::vector<uint32_t> compile_glsl(const std::string& name, std::string_view source,
                                   const std::string& preamble, const FindInclude& find_include);

// Whether this library has a compiler; where it has none, compile_glsl() throws Error(unsupported).
bool compiles_shaders();

// Returns what SPIRV-Tools' validator says against a module for Vulkan 1.1. Empty: the module is valid, or
// this library is without the validator.
std::string spirv_fault(std::span<const uint32_t> words);

// A version that changes whenever glslang might produce other SPIR-V.
std::string glslang_version();

bool knows_khr_cooperative_matrix();  // GL_KHR_cooperative_matrix

}  // namespace vellum::gpu

// GLSL to SPIR-V, through glslang.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vellum::gpu {

// glslang keeps tables for the whole process, which cost about 66 ms to build; they live as long as any of
// these.
class GlslangProcess {
 public:
  GlslangProcess();
  ~GlslangProcess();
  GlslangProcess(const GlslangProcess&) = delete;
  GlslangProcess& operator=(const GlslangProcess&) = delete;
};

// Text of an included file by its name in quotes; nothing if there is none.
using FindInclude = std::function<std::optional<std::string_view>(std::string_view name)>;

// SPIR-V 1.3 for Vulkan 1.1. While a GlslangProcess exists; thread-safe. preamble: lines put after #version.
// Error(internal) with glslang's log, which names `name`.
std::vector<uint32_t> compile_glsl(const std::string& name, std::string_view source,
                                   const std::string& preamble, const FindInclude& find_include);

// Changes when another glslang might give other SPIR-V.
std::string glslang_version();

bool knows_khr_cooperative_matrix();  // GL_KHR_cooperative_matrix

}  // namespace vellum::gpu

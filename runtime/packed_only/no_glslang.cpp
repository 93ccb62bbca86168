// Takes the place of vulkan/glslang_compiler.cpp in the library that finds its SPIR-V in packed models.
#include "vellum/error.hpp"
#include "vulkan/glslang_compiler.hpp"

namespace vellum::gpu {

GlslangProcess::GlslangProcess() = default;
GlslangProcess::~GlslangProcess() = default;

std::vector<uint32_t> compile_glsl(const std::string& name, std::string_view, const std::string&,
                                   const FindInclude&) {
  throw Error(ErrorCode::unsupported,
              "the shader " + name +
                  " is wanted in a variant that the packed model lacks, and this library "
                  "(Vellum::runtime) compiles none; pack the model with the same release of Vellum, with "
                  "the caps of this device or of less (android_baseline_2022), and with the session's "
                  "precision, storage and shapes, or link Vellum::vellum");
}

std::string spirv_fault(std::span<const uint32_t>) { return {}; }

bool compiles_shaders() { return false; }

std::string glslang_version() { return "none"; }

bool knows_khr_cooperative_matrix() { return false; }

}  // namespace vellum::gpu

#include "vulkan/glslang_compiler.hpp"

#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>
#include <glslang/build_info.h>
#ifdef VELLUM_SPIRV_TOOLS
#include <spirv-tools/libspirv.h>
#endif

#include <iterator>
#include <memory>
#include <mutex>

#include "vellum/error.hpp"

namespace vellum::gpu {
namespace {

// glslang counts its users, but has a race if two threads initialise it first.
std::mutex& process_mutex() {
  static std::mutex mutex;
  return mutex;
}

class Includer : public glslang::TShader::Includer {
 public:
  explicit Includer(const FindInclude& find) : find_(find) {}

  IncludeResult* includeLocal(const char* name, const char*, size_t) override {
    const std::optional<std::string_view> text = find_(name);
    return text ? new IncludeResult(name, text->data(), text->size(), nullptr) : nullptr;
  }
  void releaseInclude(IncludeResult* result) override { delete result; }

 private:
  const FindInclude& find_;
};

[[noreturn]] void fail(const std::string& name, const std::string& log) {
  throw Error(ErrorCode::internal, "the shader " + name + " does not compile: " + log);
}

// The versions of GLSL to try. Shaders are written for the last, but few need its additions, and before the
// first shader of a version glslang sets up its built-in functions, which takes 30 ms for 4.40 and 65 ms for
// 4.50.
constexpr int kVersions[] = {440, 450};
constexpr auto kMessages = static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules);

// Parsed shaders refer to it.
struct SourceText {
  const char* text;
  int length;
  const char* name;
  const std::string& preamble;
};

// Returns null if the shader does not parse as that version; throws Error if it is the last version.
std::unique_ptr<glslang::TShader> parse(const SourceText& source, int version,
                                        const FindInclude& find_include) {
  auto shader = std::make_unique<glslang::TShader>(EShLangCompute);
  shader->setStringsWithLengthsAndNames(&source.text, &source.length, &source.name, 1);
  shader->setPreamble(source.preamble.c_str());
  shader->setEnvInput(glslang::EShSourceGlsl, EShLangCompute, glslang::EShClientVulkan, 100);
  shader->setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_1);
  shader->setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_3);
  Includer includer(find_include);
  constexpr bool force_version = true;
  if (shader->parse(GetDefaultResources(), version, ENoProfile, force_version, false, kMessages, includer))
    return shader;
  if (version == std::end(kVersions)[-1]) fail(source.name, shader->getInfoLog());
  return nullptr;
}

}  // namespace

GlslangProcess::GlslangProcess() {
  const std::lock_guard lock(process_mutex());
  if (!glslang::InitializeProcess()) throw Error(ErrorCode::internal, "glslang cannot be initialised");
}

GlslangProcess::~GlslangProcess() {
  const std::lock_guard lock(process_mutex());
  glslang::FinalizeProcess();
}

std::vector<uint32_t> compile_glsl(const std::string& name, std::string_view source,
                                   const std::string& preamble, const FindInclude& find_include) {
  const SourceText text{source.data(), static_cast<int>(source.size()), name.c_str(), preamble};
  std::unique_ptr<glslang::TShader> shader;
  for (size_t i = 0; !shader; ++i) shader = parse(text, kVersions[i], find_include);
  glslang::TProgram program;  // after the shader, which it uses until it is destroyed
  program.addShader(shader.get());
  if (!program.link(kMessages)) fail(name, program.getInfoLog());

  glslang::SpvOptions options;
  options.disableOptimizer = true;
  std::vector<uint32_t> words;
  spv::SpvBuildLogger logger;
  glslang::GlslangToSpv(*program.getIntermediate(EShLangCompute), words, &logger, &options);
  if (words.empty()) fail(name, logger.getAllMessages());
  return words;
}

std::string spirv_fault(std::span<const uint32_t> words) {
#ifdef VELLUM_SPIRV_TOOLS
  const std::unique_ptr<spv_context_t, void (*)(spv_context)> context(spvContextCreate(SPV_ENV_VULKAN_1_1),
                                                                      spvContextDestroy);
  spv_diagnostic found = nullptr;
  const spv_result_t result = spvValidateBinary(context.get(), words.data(), words.size(), &found);
  const std::unique_ptr<spv_diagnostic_t, void (*)(spv_diagnostic)> diagnostic(found, spvDiagnosticDestroy);
  if (result == SPV_SUCCESS) return {};
  return diagnostic && diagnostic->error ? diagnostic->error : "it is invalid";
#else
  static_cast<void>(words);
  return {};
#endif
}

bool compiles_shaders() { return true; }

std::string glslang_version() {
  return std::to_string(GLSLANG_VERSION_MAJOR) + "." + std::to_string(GLSLANG_VERSION_MINOR) + "." +
         std::to_string(GLSLANG_VERSION_PATCH) + GLSLANG_VERSION_FLAVOR;
}

// Since version 13.0 (glslang's CHANGES.md).
bool knows_khr_cooperative_matrix() { return GLSLANG_VERSION_MAJOR >= 13; }

}  // namespace vellum::gpu

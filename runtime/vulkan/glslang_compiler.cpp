#include "vulkan/glslang_compiler.hpp"

#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>
#include <glslang/build_info.h>

#include <memory>
#include <mutex>

#include "vellum/error.hpp"

namespace vellum::gpu {
namespace {

// glslang counts its users, but two threads that are the first to initialise it race.
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
  glslang::TShader shader(EShLangCompute);
  const char* text = source.data();
  const int length = static_cast<int>(source.size());
  const char* text_name = name.c_str();
  shader.setStringsWithLengthsAndNames(&text, &length, &text_name, 1);
  shader.setPreamble(preamble.c_str());
  shader.setEnvInput(glslang::EShSourceGlsl, EShLangCompute, glslang::EShClientVulkan, 100);
  shader.setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_1);
  shader.setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_3);

  constexpr auto messages = static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules);
  Includer includer(find_include);
  if (!shader.parse(GetDefaultResources(), 450, ENoProfile, false, false, messages, includer))
    fail(name, shader.getInfoLog());
  glslang::TProgram program;  // after the shader, since it uses it to its end
  program.addShader(&shader);
  if (!program.link(messages)) fail(name, program.getInfoLog());

  glslang::SpvOptions options;
  options.disableOptimizer = true;
  std::vector<uint32_t> words;
  spv::SpvBuildLogger logger;
  glslang::GlslangToSpv(*program.getIntermediate(EShLangCompute), words, &logger, &options);
  if (words.empty()) fail(name, logger.getAllMessages());
  return words;
}

std::string glslang_version() {
  return std::to_string(GLSLANG_VERSION_MAJOR) + "." + std::to_string(GLSLANG_VERSION_MINOR) + "." +
         std::to_string(GLSLANG_VERSION_PATCH) + GLSLANG_VERSION_FLAVOR;
}

}  // namespace vellum::gpu

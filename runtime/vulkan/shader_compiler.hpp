// SPIR-V of a shader variant: from the disk cache, else compiled.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/sha256.hpp"
#include "vellum/log.hpp"
#include "vulkan/glslang_compiler.hpp"

namespace vellum::gpu {

struct PipelineKey;

struct ShaderRequest {
  std::string name;    // for messages; names the embedded source if `source` is empty
  std::string source;  // GLSL
  std::vector<std::pair<std::string, std::string>> defines;
};

// Of all that the SPIR-V depends on but glslang: the source with what it includes, and the macros.
platform::Sha256Digest shader_digest(const ShaderRequest& request);

// The shader of a pipeline.
ShaderRequest shader_request(const PipelineKey& key);

// SPIR-V that was compiled elsewhere.
class CompiledShaders {
 public:
  virtual ~CompiledShaders() = default;
  // By shader_digest(); empty where there is none. Thread-safe.
  virtual std::vector<uint32_t> find(const platform::Sha256Digest& digest) const = 0;
};

// Thread-safe. Keeps no SPIR-V in memory: a variant is compiled once, for the one pipeline that has it.
class ShaderCompiler {
 public:
  // An empty folder: nothing is kept on disk.
  ShaderCompiler(const std::filesystem::path& cache_folder, LogCallback log);

  // Error(internal) if there is no such shader or it does not compile.
  std::vector<uint32_t> spirv(const ShaderRequest& request);

  // Looks there first, as long as others own it.
  void look_in(const std::shared_ptr<const CompiledShaders>& shaders);

  uint64_t compiled() const { return compiled_; }  // shaders that went through glslang
  uint64_t found_on_disk() const { return found_on_disk_; }
  uint64_t given() const { return given_; }  // by CompiledShaders

 private:
  std::vector<uint32_t> compile(const ShaderRequest& request, std::string_view source);
  std::vector<uint32_t> find_given(const ShaderRequest& request);
  void keep(const std::filesystem::path& path, const std::array<uint8_t, 32>& key,
            const std::vector<uint32_t>& words);

  std::filesystem::path folder_;
  LogCallback log_;
  std::once_flag glslang_started_;
  std::optional<GlslangProcess> glslang_;  // started by the first compilation
  std::atomic<bool> disk_is_writable_{true};
  std::atomic<uint64_t> compiled_{0}, found_on_disk_{0}, given_{0};
  std::mutex mutex_;
  std::vector<std::weak_ptr<const CompiledShaders>> elsewhere_;
};

}  // namespace vellum::gpu

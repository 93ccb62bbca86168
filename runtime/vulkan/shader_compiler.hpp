// Provides the SPIR-V of a shader variant: precompiled, from the disk cache, or compiled with glslang.
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

// Returns a digest of everything except glslang that determines the SPIR-V: the source, its includes, and the
// macros.
platform::Sha256Digest shader_digest(const ShaderRequest& request);

// Returns the request for the shader of a pipeline.
ShaderRequest shader_request(const PipelineKey& key);

// A source of precompiled SPIR-V, such as a bundle.
class CompiledShaders {
 public:
  virtual ~CompiledShaders() = default;
  // Returns the SPIR-V with this shader_digest(); empty if there is none. Thread-safe.
  virtual std::vector<uint32_t> find(const platform::Sha256Digest& digest) const = 0;
  // Returns whether the modules are used without validation.
  virtual bool are_trusted() const = 0;
};

// Thread-safe. Keeps no SPIR-V in memory, because each variant is needed once, for a single pipeline.
class ShaderCompiler {
 public:
  // cache_folder: empty means that nothing is stored on disk.
  ShaderCompiler(const std::filesystem::path& cache_folder, LogCallback log);

  // Returns the SPIR-V. Throws Error(internal) if the shader does not exist or does not compile.
  std::vector<uint32_t> spirv(const ShaderRequest& request) { return find(request).words; }

  struct Module {
    std::vector<uint32_t> words;
    bool from_disk = false;
  };
  Module find(const ShaderRequest& request);
  // Compiles a shader whose module on disk is not usable, and replaces the module.
  std::vector<uint32_t> replace(const ShaderRequest& request);

  // Adds precompiled shaders, which are searched first. Keeps a weak reference.
  void add_precompiled_shaders(const std::shared_ptr<const CompiledShaders>& shaders);

  uint64_t compiled() const { return compiled_; }  // shaders that went through glslang
  uint64_t found_on_disk() const { return found_on_disk_; }
  uint64_t precompiled() const { return precompiled_; }

 private:
  std::vector<uint32_t> compile(const ShaderRequest& request, std::string_view source);
  std::filesystem::path path_of(const platform::Sha256Digest& key) const;
  std::vector<uint32_t> find_precompiled(const ShaderRequest& request);
  // See spirv_fault().
  std::string fault_of(const std::vector<uint32_t>& words);
  void keep(const std::filesystem::path& path, const std::array<uint8_t, 32>& key,
            const std::vector<uint32_t>& words);

  std::filesystem::path folder_;
  LogCallback log_;
  std::once_flag glslang_started_;
  std::optional<GlslangProcess> glslang_;  // started by the first compilation
  std::atomic<bool> disk_is_writable_{true};
  std::atomic<uint64_t> compiled_{0}, found_on_disk_{0}, precompiled_{0};
  std::mutex mutex_;
  std::vector<std::weak_ptr<const CompiledShaders>> elsewhere_;
};

}  // namespace vellum::gpu

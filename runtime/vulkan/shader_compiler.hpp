// SPIR-V of a shader variant: from the disk cache, else compiled.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vellum/log.hpp"
#include "vulkan/glslang_compiler.hpp"

namespace vellum::gpu {

struct ShaderRequest {
  std::string name;    // for messages; names the embedded source if `source` is empty
  std::string source;  // GLSL
  std::vector<std::pair<std::string, std::string>> defines;
};

// Thread-safe. Keeps no SPIR-V in memory: a variant is compiled once, for the one pipeline that has it.
class ShaderCompiler {
 public:
  // An empty folder: nothing is kept on disk.
  ShaderCompiler(const std::filesystem::path& cache_folder, LogCallback log);

  // Error(internal) if there is no such shader or it does not compile.
  std::vector<uint32_t> spirv(const ShaderRequest& request);

  uint64_t compiled() const { return compiled_; }  // shaders that went through glslang
  uint64_t found_on_disk() const { return found_on_disk_; }

 private:
  std::vector<uint32_t> compile(const ShaderRequest& request, std::string_view source);
  void keep(const std::filesystem::path& path, const std::array<uint8_t, 32>& key,
            const std::vector<uint32_t>& words);

  std::filesystem::path folder_;
  LogCallback log_;
  std::once_flag glslang_started_;
  std::optional<GlslangProcess> glslang_;  // started by the first compilation
  std::atomic<bool> disk_is_writable_{true};
  std::atomic<uint64_t> compiled_{0}, found_on_disk_{0};
};

}  // namespace vellum::gpu

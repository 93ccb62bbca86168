// Compute pipelines: from the name of a shader and its macros to something that can be bound; made once per
// Context.
#pragma once

#include <vulkan/vulkan_core.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vulkan/image.hpp"

namespace vellum::gpu {

class Arena;
class Context;
class PipelineCache;

enum class BindingType : uint8_t {
  storage_buffer,
  storage_image,
  sampled_image,  // combined with a nearest, unfiltered sampler: texelFetch
  uniform_buffer,
  // Read by imageLoad from an imageBuffer of this format.
  texel_buffer_rgba32f,
  texel_buffer_rgba16f,
};

struct PipelineKey {
  std::string shader;                                        // file of shaders/ without ".comp"
  std::vector<std::pair<std::string, std::string>> defines;  // in any order; they are sorted
  std::vector<BindingType> bindings;                         // binding number = position, all in set 0
  uint32_t push_constant_bytes = 0;
  std::array<uint32_t, 3> workgroup_size{64, 1, 1};  // defined as WORKGROUP_X, WORKGROUP_Y, WORKGROUP_Z
  // Not 0: full subgroups of so many invocations, defined as SUBGROUP; DeviceCaps::subgroup_size, or the
  // device cannot.
  uint32_t subgroup_size = 0;
  std::string source;  // GLSL; empty: the embedded source of `shader`

  bool operator==(const PipelineKey&) const = default;
  bool operator<(const PipelineKey& other) const;  // some order, for maps and sets
};

class Pipeline {
 public:
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  const PipelineKey& key() const;
  VkPipeline handle() const;
  VkPipelineLayout layout() const;
  VkDescriptorSetLayout set_layout() const;  // null handle if there are no bindings

 private:
  friend class PipelineRegistry;
  Pipeline(Context& context, const PipelineCache& cache, PipelineKey key);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class CompiledShaders;

// What pipelines may bind to be compiled before their first dispatch (EarlyCompile).
struct EarlyBindings {
  std::shared_ptr<Arena> memory;
  // For each key what its bindings will be, in their order; any for buffers. Empty: what binds images is left
  // to its first dispatch.
  std::vector<std::vector<ImageDesc>> images = {};
};

struct ShaderCounts {
  uint64_t compiled = 0, found_on_disk = 0, given = 0;
};

// Thread-safe. Context::pipelines() is the one of its device.
class PipelineRegistry {
 public:
  explicit PipelineRegistry(Context& context);
  ~PipelineRegistry();
  PipelineRegistry(const PipelineRegistry&) = delete;
  PipelineRegistry& operator=(const PipelineRegistry&) = delete;

  // Makes the pipeline, or waits for the thread that is making it, or gives the one there is.
  // Error(unsupported) if it asks more than the device's limits; Error(internal) with glslang's log if the
  // shader does not compile.
  std::shared_ptr<const Pipeline> get(const PipelineKey& key);
  // The same for many, in parallel; pipelines in the order of the keys. threads 0: as many as the machine
  // has. Given memory to bind, new ones are compiled then rather than at their first dispatch.
  std::vector<std::shared_ptr<const Pipeline>> prepare(std::span<const PipelineKey> keys,
                                                       const EarlyBindings& early = {}, unsigned threads = 0);
  // Shaders that are found there are not compiled; as long as others own it.
  void look_in(const std::shared_ptr<const CompiledShaders>& shaders);
  size_t size() const;
  ShaderCounts shader_counts() const;  // where the SPIR-V of these pipelines came from
  // Writes the driver's pipeline cache to the cache folder if pipelines were made since the last time; the
  // Context does it too at its end. Never fails: what goes wrong is logged.
  void save();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vellum::gpu

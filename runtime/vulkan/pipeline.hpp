// Compute pipelines: created from the name of a shader and its macros, once for each Context.
#pragma once

#include <vulkan/vulkan_core.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "platform/progress.hpp"
#include "vulkan/external_format.hpp"
#include "vulkan/image.hpp"

namespace vellum::gpu {

class Arena;
class Context;
class PipelineCache;

enum class BindingType : uint8_t {
  storage_buffer,
  storage_image,
  sampled_image,  // combined image sampler without filtering: texelFetch
  planes_image,   // combined image sampler of an image of several planes (PipelineKey::planes): textureLod
  uniform_buffer,
  // Read by imageLoad from an imageBuffer of this format.
  texel_buffer_rgba32f,
  texel_buffer_rgba16f,
  texel_buffer_rgba8ui,
  texel_buffer_rgba32ui,
  // Read by texelFetch from a samplerBuffer of this format.
  sampled_buffer_rgba32f,
  sampled_buffer_rgba16f,
  sampled_buffer_rgba8ui,
  sampled_buffer_rgba32ui,
};

// Everything that determines a compute pipeline.
struct PipelineKey {
  std::string shader;                                        // file of shaders/ without ".comp"
  std::vector<std::pair<std::string, std::string>> defines;  // in any order; they are sorted
  std::vector<BindingType> bindings;                         // binding number = position, all in set 0
  uint32_t push_constant_bytes = 0;
  std::array<uint32_t, 3> workgroup_size{64, 1, 1};  // defined as WORKGROUP_X, WORKGROUP_Y, WORKGROUP_Z
  // Not 0: the pipeline requires full subgroups of this many invocations, defined as SUBGROUP. Must be
  // DeviceCaps::subgroup_size.
  uint32_t subgroup_size = 0;
  // The name of the shader's push constant block, which the pipeline checks; empty: unchecked.
  std::string parameter_block = {};
  ImageFormatId planes = {};   // format of the planes_image
  bool dispatch_base = false;  // for CommandBuffer::dispatch_from()
  std::string source = {};     // GLSL; empty: the embedded source of `shader`

  bool operator==(const PipelineKey&) const = default;
  bool operator<(const PipelineKey& other) const;  // an arbitrary order, for maps and sets
};

// A compiled compute pipeline with its layouts. PipelineRegistry creates it.
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

// The resources that are bound to compile pipelines before their first dispatch (EarlyCompile).
struct EarlyBindings {
  std::shared_ptr<Arena> memory;
  // For each key the images of its bindings, in order; entries for buffers are ignored. Empty: pipelines that
  // bind images are compiled at their first dispatch.
  std::vector<std::vector<ImageDesc>> images = {};
};

// Counts of SPIR-V modules by source: compiled with glslang, read from the disk cache, or precompiled in a
// bundle.
struct ShaderCounts {
  uint64_t compiled = 0, found_on_disk = 0, precompiled = 0;
};

// All pipelines of a Context (Context::pipelines()). Thread-safe.
class PipelineRegistry {
 public:
  explicit PipelineRegistry(Context& context);
  ~PipelineRegistry();
  PipelineRegistry(const PipelineRegistry&) = delete;
  PipelineRegistry& operator=(const PipelineRegistry&) = delete;

  // Returns the existing pipeline or creates it; waits if another thread is creating it. Throws
  // Error(unsupported) if it exceeds the device's limits, and Error(internal) with glslang's log if the
  // shader does not compile.
  std::shared_ptr<const Pipeline> get(const PipelineKey& key);
  // Returns the pipelines of all keys, in order, and creates missing ones in parallel. threads: 0 means as
  // many as the machine has. With `bindings`, the driver compiles new pipelines now instead of at their first
  // dispatch. progress: counts the pipelines, and may cancel before the next one.
  std::vector<std::shared_ptr<const Pipeline>> prepare(std::span<const PipelineKey> keys,
                                                       const EarlyBindings& bindings = {},
                                                       unsigned threads = 0, Progress* progress = nullptr);
  // Adds precompiled shaders, which are used instead of compiling. Keeps a weak reference.
  void add_precompiled_shaders(const std::shared_ptr<const CompiledShaders>& shaders);
  size_t size() const;
  ShaderCounts shader_counts() const;  // of the SPIR-V of these pipelines
  // Writes the driver's pipeline cache to the cache folder if pipelines were created since the last call. The
  // destructor of the Context calls it, too. Never throws; errors are logged.
  void save();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vellum::gpu

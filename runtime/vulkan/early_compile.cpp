#include "vulkan/early_compile.hpp"

#include <algorithm>
#include <array>

#include "caps/driver_traits.hpp"
#include "vulkan/buffer.hpp"
#include "vulkan/commands.hpp"
#include "vulkan/context.hpp"
#include "vulkan/descriptors.hpp"
#include "vulkan/memory.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum::gpu {
namespace {

// Whole texels of any format, and no power of two: lavapipe compiles one variant for texel buffers whose size
// is a power of two and one for others, such as tensors.
constexpr uint64_t kBoundBytes = 272;

bool binds_buffers_alone(const Pipeline& pipeline) {
  return std::ranges::all_of(pipeline.key().bindings, [](BindingType type) {
    return type == BindingType::storage_buffer || type == BindingType::texel_buffer_rgba32f ||
           type == BindingType::texel_buffer_rgba16f;
  });
}

}  // namespace

// What must live until the driver is done with it.
struct EarlyCompile::Dispatch {
  Dispatch(const std::shared_ptr<Context>& context, Buffer buffer,
           const std::shared_ptr<const Pipeline>& pipeline)
      : bound(std::move(buffer)), sets(context, {&pipeline, 1}), commands(context), fence(context) {
    const std::vector<BoundResource> resources(pipeline->key().bindings.size(), BoundResource(bound));
    sets.write(0, resources);
    commands.begin(true);
    // All bind the same memory, which others will use: to validation they touch it.
    commands.barrier(kComputeReadWrite, kComputeReadWrite);
    commands.bind(*pipeline, sets[0]);
    const std::vector<std::byte> zeros(pipeline->key().push_constant_bytes);
    if (!zeros.empty()) commands.push_constants(*pipeline, zeros);
    commands.dispatch({0, 0, 0});
    commands.barrier(kComputeReadWrite, kComputeReadWrite);
    commands.end();
    submit(*context, commands, fence);
  }

  Buffer bound;
  DescriptorSets sets;
  CommandBuffer commands;
  Fence fence;  // last: its end waits for the submit
};

EarlyCompile::EarlyCompile(std::shared_ptr<Context> context, std::shared_ptr<Arena> memory)
    : context_(std::move(context)), memory_(std::move(memory)) {}

EarlyCompile::~EarlyCompile() = default;

void EarlyCompile::begin(const std::shared_ptr<const Pipeline>& pipeline) {
  if (!compiles_at_first_dispatch(context_->device_caps()) || !memory_ || !binds_buffers_alone(*pipeline))
    return;
  Buffer buffer(context_, kBoundBytes);
  const MemoryRequirements needed = buffer.requirements();
  if (needed.size > memory_->size() || !(needed.memory_type_bits >> memory_->memory_type() & 1)) return;
  buffer.bind(memory_, 0);
  auto dispatch = std::make_unique<Dispatch>(context_, std::move(buffer), pipeline);
  const std::lock_guard lock(mutex_);
  dispatches_.push_back(std::move(dispatch));
}

void EarlyCompile::finish() {
  const std::lock_guard lock(mutex_);
  for (const auto& dispatch : dispatches_) dispatch->fence.wait();
  dispatches_.clear();
}

}  // namespace vellum::gpu

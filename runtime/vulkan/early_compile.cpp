#include "vulkan/early_compile.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "cost/device_traits.hpp"
#include "vulkan/buffer.hpp"
#include "vulkan/commands.hpp"
#include "vulkan/context.hpp"
#include "vulkan/descriptors.hpp"
#include "vulkan/memory.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum::gpu {
namespace {

// A multiple of the texels of every format, and not a power of two: lavapipe compiles one variant for texel
// buffers whose size is a power of two, and one for others, such as tensors.
constexpr uint64_t kBoundBytes = 272;

bool binds_image(BindingType type) {
  return type == BindingType::storage_image || type == BindingType::sampled_image;
}

// Places resources one after another.
class Room {
 public:
  explicit Room(std::shared_ptr<Arena> memory) : memory_(std::move(memory)) {}

  // Returns whether any memory is left.
  template <typename Resource>
  bool bind(Resource& resource) {
    const MemoryRequirements needed = resource.requirements();
    const uint64_t begin = (end_ + needed.alignment - 1) / needed.alignment * needed.alignment;
    if (begin + needed.size > memory_->size() || !(needed.memory_type_bits >> memory_->memory_type() & 1))
      return false;
    resource.bind(memory_, begin);
    end_ = begin + needed.size;
    return true;
  }

 private:
  std::shared_ptr<Arena> memory_;
  uint64_t end_ = 0;
};

}  // namespace

// The objects that must live until the driver is done.
struct EarlyCompile::Dispatch {
  explicit Dispatch(const std::shared_ptr<Context>& context) : buffer(context, kBoundBytes), fence(context) {}

  bool make_resources(const std::shared_ptr<Context>& context, const std::shared_ptr<Arena>& memory,
                      std::span<const BindingType> bindings, std::span<const ImageDesc> descs) {
    images.reserve(bindings.size());
    for (size_t i = 0; i < bindings.size(); ++i)
      if (binds_image(bindings[i])) images.emplace_back(context, smallest_like(descs[i]));
    // Images first: on some devices they may not share pages with buffers, and this order needs no extra
    // space.
    Room room(memory);
    return std::ranges::all_of(images, [&](Image& image) { return room.bind(image); }) && room.bind(buffer);
  }

  void submit_to(const std::shared_ptr<Context>& context, const std::shared_ptr<const Pipeline>& pipeline) {
    std::vector<BoundResource> resources;
    std::vector<ImageTransition> transitions;
    for (const BindingType type : pipeline->key().bindings) {
      if (binds_image(type)) {
        transitions.push_back({&images[transitions.size()]});
        resources.emplace_back(*transitions.back().image);
      } else {
        resources.emplace_back(buffer);
      }
    }
    sets.emplace(context, std::span(&pipeline, 1));
    sets->write(0, resources);
    commands.emplace(context);
    commands->begin(true);
    // All dispatches bind the same memory, which is used later: validation sees them as accesses.
    commands->barrier(kComputeReadWrite, kComputeReadWrite, transitions);
    commands->bind(*pipeline, (*sets)[0]);
    const std::vector<std::byte> zeros(pipeline->key().push_constant_bytes);
    if (!zeros.empty()) commands->push_constants(*pipeline, zeros);
    commands->dispatch({0, 0, 0});
    commands->barrier(kComputeReadWrite, kComputeReadWrite);
    commands->end();
    submit(*context, *commands, fence);
  }

  Buffer buffer;
  std::vector<Image> images;  // of the bindings that are images, in their order
  std::optional<DescriptorSets> sets;
  std::optional<CommandBuffer> commands;
  Fence fence;  // last: its destructor waits for the submit
};

ImageDesc smallest_like(const ImageDesc& image) {
  const auto least = [](uint32_t extent) { return std::has_single_bit(extent) ? 1u : 3u; };
  return {image.is_3d, least(image.width), least(image.height), least(image.depth), image.format};
}

EarlyCompile::EarlyCompile(std::shared_ptr<Context> context, std::shared_ptr<Arena> memory)
    : context_(std::move(context)), memory_(std::move(memory)) {}

EarlyCompile::~EarlyCompile() = default;

void EarlyCompile::begin(const std::shared_ptr<const Pipeline>& pipeline, std::span<const ImageDesc> images) {
  const std::vector<BindingType>& bindings = pipeline->key().bindings;
  const bool known = images.size() == bindings.size() || std::ranges::none_of(bindings, binds_image);
  const DeviceCaps& caps = context_->device_caps();
  if (!device_traits(caps).compiles_at_first_dispatch || !memory_ || !known) return;
  auto dispatch = std::make_unique<Dispatch>(context_);
  if (!dispatch->make_resources(context_, memory_, bindings, images)) return;
  dispatch->submit_to(context_, pipeline);
  const std::lock_guard lock(mutex_);
  dispatches_.push_back(std::move(dispatch));
}

void EarlyCompile::finish() {
  const std::lock_guard lock(mutex_);
  for (const auto& dispatch : dispatches_) dispatch->fence.wait();
  dispatches_.clear();
}

}  // namespace vellum::gpu

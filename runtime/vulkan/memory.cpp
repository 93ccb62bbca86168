#include "vulkan/memory.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>

#include "vellum/vulkan.hpp"
#include "vulkan/context_impl.hpp"

namespace vellum::gpu {
namespace {

using Flags = vk::MemoryPropertyFlags;
using Flag = vk::MemoryPropertyFlagBits;

// The memory properties of each kind, best first; Vulkan guarantees that the last of each exists for buffers.
// Where the host only writes, cached memory has no advantage, so coherent memory without caching is first.
std::vector<Flags> preferences(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::upload:
      return {Flag::eHostVisible | Flag::eHostCoherent | Flag::eDeviceLocal,
              Flag::eHostVisible | Flag::eDeviceLocal, Flag::eHostVisible | Flag::eHostCoherent,
              Flag::eHostVisible};
    case MemoryKind::readback:
      return {Flag::eHostVisible | Flag::eHostCached | Flag::eHostCoherent,
              Flag::eHostVisible | Flag::eHostCached, Flag::eHostVisible | Flag::eHostCoherent,
              Flag::eHostVisible};
    case MemoryKind::device:
      break;
  }
  return {Flag::eDeviceLocal, Flags()};
}

// Properties of memory that is never used here.
constexpr Flags kAvoided =
    Flag::eLazilyAllocated | Flag::eProtected | Flag::eDeviceCoherentAMD | Flag::eDeviceUncachedAMD;

// "1336320 bytes (1.3 MiB)"
std::string readable(uint64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  const std::string exact = std::to_string(bytes) + " bytes";
  if (bytes < 1024) return exact;
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // 1023.95 and more would be rounded to 1024.0.
  for (; value >= 1023.95 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, " (%.1f %s)", value, kUnits[unit]);
  return exact + text;
}

void check_limits(const Context::Impl& context, uint64_t bytes, uint32_t type, uint32_t allocations,
                  const std::string& what) {
  const auto& properties = context.memory_properties;
  const uint64_t heap = properties.memoryHeaps[properties.memoryTypes[type].heapIndex].size;
  if (bytes > heap)
    throw Error(ErrorCode::out_of_memory, what + ": " + context.caps.name + " has " + readable(heap) +
                                              " in all; use smaller inputs or batches, or another device");
  if (bytes > context.caps.max_allocation_bytes)
    throw Error(ErrorCode::out_of_memory, what + ": " + context.caps.name + " allocates at most " +
                                              readable(context.caps.max_allocation_bytes) + " at once");
  if (allocations >= context.caps.max_allocation_count)
    throw Error(ErrorCode::out_of_memory, what + ": " + context.caps.name + " allows " +
                                              std::to_string(context.caps.max_allocation_count) +
                                              " allocations; close some sessions");
}

std::optional<uint32_t> find_memory_type(const Context& context, uint32_t memory_type_bits, MemoryKind kind) {
  const auto& properties = context.impl().memory_properties;
  for (const Flags wanted : preferences(kind))
    for (uint32_t i = 0; i < properties.memoryTypeCount; ++i) {
      const Flags flags = properties.memoryTypes[i].propertyFlags;
      if ((memory_type_bits >> i & 1) && (flags & wanted) == wanted && !(flags & kAvoided)) return i;
    }
  return std::nullopt;
}

// Returns the bits of the types that are in another heap than `type`.
uint32_t types_of_other_heaps(const Context& context, uint32_t type) {
  const auto& properties = context.impl().memory_properties;
  uint32_t bits = 0;
  for (uint32_t i = 0; i < properties.memoryTypeCount; ++i)
    if (properties.memoryTypes[i].heapIndex != properties.memoryTypes[type].heapIndex) bits |= 1u << i;
  return bits;
}

}  // namespace

uint32_t choose_memory_type(const Context& context, uint32_t memory_type_bits, MemoryKind kind) {
  if (const auto best = find_memory_type(context, memory_type_bits, kind)) return *best;
  throw Error(ErrorCode::unsupported, context.caps().name + ": no memory type suits all resources of " +
                                          (kind == MemoryKind::device ? "device" : "host-visible") +
                                          " memory");
}

uint32_t host_visible_memory_types(const Context& context) {
  const auto& properties = context.impl().memory_properties;
  uint32_t bits = 0;
  for (uint32_t i = 0; i < properties.memoryTypeCount; ++i)
    if (properties.memoryTypes[i].propertyFlags & Flag::eHostVisible) bits |= 1u << i;
  return bits;
}

struct Arena::Impl {
  std::shared_ptr<Context> context;
  uint64_t bytes;
  const uint64_t counted;  // against the purpose's budget: without what ask_application() adds
  uint32_t type;
  MemoryPurpose purpose;
  Flags flags;
  vk::raii::DeviceMemory memory{nullptr};
  DeviceMemory given;  // by the application's allocator, instead
  std::byte* mapped = nullptr;

  Impl(std::shared_ptr<Context> owner, uint64_t size, uint32_t memory_type, const MemoryPurpose& what_for);
  void allocate();
  void ask_application(const std::string& what);
  VkDeviceMemory handle() const { return given.memory ? given.memory : static_cast<VkDeviceMemory>(*memory); }
  ~Impl();
  bool coherent() const { return bool(flags & Flag::eHostCoherent); }
  vk::MappedMemoryRange whole_atoms(uint64_t offset, uint64_t count) const;
};

Arena::Impl::Impl(std::shared_ptr<Context> owner, uint64_t size, uint32_t memory_type,
                  const MemoryPurpose& what_for)
    : context(std::move(owner)),
      bytes(size),
      counted(size),
      type(memory_type),
      purpose(what_for),
      flags(context->impl().memory_properties.memoryTypes[type].propertyFlags) {}

void Arena::Impl::allocate() {
  Context::Impl& impl = context->impl();
  const std::string use(name(purpose.category));
  const std::string what = "allocating " + readable(bytes) + " for " + use;
  if (purpose.budget) purpose.budget->take(counted, what);
  try {
    if (impl.memory_callbacks.allocate) return ask_application(what);
    memory = impl.memory.allocate(purpose.category, bytes, [&](uint32_t allocations) {
      check_limits(impl, bytes, type, allocations, what);
      return translated(what, [&] {
        return vk::raii::DeviceMemory(impl.device, {bytes, type}, impl.allocator());
      });
    });
  } catch (...) {
    if (purpose.budget) purpose.budget->give_back(counted);
    throw;
  }
  if (flags & Flag::eHostVisible)
    mapped = static_cast<std::byte*>(
        translated("mapping memory for " + use, [&] { return memory.mapMemory(0, VK_WHOLE_SIZE); }));
}

// More than the alignment of any resource on devices that are known; what is bound is checked all the same.
// Whole atoms and pages, so that the application may put its own resources beside them.
void Arena::Impl::ask_application(const std::string& what) {
  Context::Impl& impl = context->impl();
  constexpr uint64_t kMostAlignment = 64 << 10;
  const uint64_t alignment = std::max(
      {kMostAlignment, context->device_caps().non_coherent_atom_size, impl.caps.buffer_image_granularity});
  const uint64_t wanted = (bytes + alignment - 1) / alignment * alignment;
  given = impl.memory.allocate(purpose.category, wanted, [&](uint32_t) {
    const DeviceMemory got = impl.memory_callbacks.allocate(wanted, type, alignment);
    if (!got.memory)
      throw Error(ErrorCode::out_of_memory, what + ": the application's allocator has no memory left");
    const bool unmapped = (flags & Flag::eHostVisible) && !got.mapped;
    if (!unmapped && got.offset % alignment == 0) return got;
    impl.memory_callbacks.free(got);
    throw Error(ErrorCode::invalid_argument,
                what + ": the application's allocator returned memory " +
                    (unmapped ? std::string("that is not mapped, of a host-visible type")
                              : "at " + std::to_string(got.offset) + ", which is not a multiple of " +
                                    std::to_string(alignment)));
  });
  bytes = wanted;
  if (flags & Flag::eHostVisible) mapped = static_cast<std::byte*>(given.mapped);
}

Arena::Impl::~Impl() {
  if (!*memory && !given.memory) return;
  memory.clear();
  if (given.memory) context->impl().memory_callbacks.free(given);
  context->impl().memory.release(purpose.category, bytes);
  if (purpose.budget) purpose.budget->give_back(counted);
}

// Ranges must begin and end at multiples of nonCoherentAtomSize, or at the end (VkMappedMemoryRange).
vk::MappedMemoryRange Arena::Impl::whole_atoms(uint64_t offset, uint64_t count) const {
  const uint64_t atom = context->device_caps().non_coherent_atom_size;
  const uint64_t first = offset / atom * atom;
  const uint64_t end = std::min(bytes, (offset + count + atom - 1) / atom * atom);
  return {handle(), given.offset + first, end - first};
}

Arena::Arena(std::shared_ptr<Context> context, uint64_t bytes, uint32_t memory_type_bits, MemoryKind kind,
             const MemoryPurpose& purpose) {
  if (bytes == 0) throw Error(ErrorCode::invalid_argument, "an arena of no bytes was asked for");
  // The heap that host and device both see is often of 256 MiB, and may be full where the host's is not.
  // Memory for the device alone is not taken from the host's instead: kernels would run at the speed of the
  // bus.
  uint32_t type = choose_memory_type(*context, memory_type_bits, kind);
  for (uint32_t left = memory_type_bits;;) {
    impl_.reset(new Impl(context, bytes, type, purpose));
    left &= types_of_other_heaps(*context, type);
    const auto next = kind == MemoryKind::device ? std::nullopt : find_memory_type(*context, left, kind);
    try {
      impl_->allocate();
      return;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory || !next) throw;
    }
    type = *next;
  }
}

Arena::~Arena() = default;

uint64_t Arena::size() const { return impl_->bytes; }
VkDeviceMemory Arena::handle() const { return impl_->handle(); }
uint64_t Arena::begin() const { return impl_->given.offset; }
uint32_t Arena::memory_type() const { return impl_->type; }
MemoryCategory Arena::category() const { return impl_->purpose.category; }
bool Arena::host_visible() const { return impl_->mapped != nullptr; }
std::byte* Arena::data() const { return impl_->mapped; }

void Arena::flush(uint64_t offset, uint64_t bytes) const {
  if (!impl_->mapped || impl_->coherent() || bytes == 0) return;
  translated("flushing mapped memory", [&] {
    impl_->context->impl().device.flushMappedMemoryRanges(impl_->whole_atoms(offset, bytes));
  });
}

void Arena::invalidate(uint64_t offset, uint64_t bytes) const {
  if (!impl_->mapped || impl_->coherent() || bytes == 0) return;
  translated("invalidating mapped memory", [&] {
    impl_->context->impl().device.invalidateMappedMemoryRanges(impl_->whole_atoms(offset, bytes));
  });
}

}  // namespace vellum::gpu

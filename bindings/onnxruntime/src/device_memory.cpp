#include "device_memory.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "api/impl.hpp"

namespace vellum::ort {
namespace {

constexpr size_t kGranule = 256;

// Never freed: sessions may outlive static objects of the library.
struct Blocks {
  std::mutex mutex;
  std::map<uintptr_t, std::shared_ptr<const DeviceBlock>> by_address;
  std::atomic<size_t> count = 0;  // of by_address: most applications have none, and look up without a lock
  uint64_t next_number = 0;
};

Blocks& blocks() {
  static auto* const blocks = new Blocks;
  return *blocks;
}

struct Allocator : OrtAllocator {
  Allocator(const OrtMemoryInfo* memory_info, std::function<Device()> open_device)
      : OrtAllocator{}, info(memory_info), open(std::move(open_device)) {
    version = kApiVersion;
    Alloc = [](OrtAllocator* self, size_t bytes) noexcept -> void* {
      try {
        return bytes == 0 ? nullptr : allocate_device_memory(static_cast<Allocator*>(self)->open(), bytes);
      } catch (...) {
        return nullptr;
      }
    };
    Reserve = Alloc;
    Free = [](OrtAllocator*, void* address) noexcept { free_device_memory(address); };
    Info = [](const OrtAllocator* self) noexcept { return static_cast<const Allocator*>(self)->info; };
  }

  const OrtMemoryInfo* const info;
  const std::function<Device()> open;
};

}  // namespace

void* allocate_device_memory(const Device& device, size_t bytes) {
  if (bytes > SIZE_MAX - kGranule)
    throw Error(ErrorCode::out_of_memory, "a tensor of that size is too large");
  gpu::Buffer buffer = gpu::make_buffer(impl(device)->context, (bytes + kGranule - 1) / kGranule * kGranule,
                                        gpu::MemoryKind::readback, gpu::MemoryCategory::in_out);
  void* const address = buffer.data();
  Blocks& all = blocks();
  const std::lock_guard lock(all.mutex);
  auto block = std::make_shared<DeviceBlock>(DeviceBlock{device, std::move(buffer), all.next_number++});
  all.by_address.emplace(reinterpret_cast<uintptr_t>(address), std::move(block));
  all.count = all.by_address.size();
  return address;
}

void free_device_memory(void* address) noexcept {
  std::shared_ptr<const DeviceBlock> freed;  // destroyed without the lock: it may close the device
  Blocks& all = blocks();
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.by_address.find(reinterpret_cast<uintptr_t>(address));
    if (found == all.by_address.end()) return;
    freed = std::move(found->second);
    all.by_address.erase(found);
    all.count = all.by_address.size();
  }
}

std::optional<DevicePlace> find_device_memory(const void* address) {
  Blocks& all = blocks();
  if (!address || all.count == 0) return {};
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  const std::lock_guard lock(all.mutex);
  auto found = all.by_address.upper_bound(wanted);
  if (found == all.by_address.begin()) return {};
  --found;
  const uint64_t offset = wanted - found->first;
  if (offset >= found->second->buffer.size()) return {};
  return DevicePlace{found->second, offset};
}

OrtAllocator* make_device_allocator(const OrtMemoryInfo* info, std::function<Device()> open) {
  return std::make_unique<Allocator>(info, std::move(open)).release();
}

void release_device_allocator(OrtAllocator* allocator) noexcept { delete static_cast<Allocator*>(allocator); }

}  // namespace vellum::ort

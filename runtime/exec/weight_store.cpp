#include "exec/weight_store.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "platform/fingerprint.hpp"
#include "vellum/error.hpp"
#include "vulkan/context.hpp"
#include "vulkan/transfer.hpp"

namespace vellum {
namespace {

class ResidentWeights : public ProgramWeights {
 public:
  explicit ResidentWeights(const Program& program) : program_(program) {}

  gpu::BoundResource resource(TensorId id) const override {
    const auto found = weights.find(id);
    if (found == weights.end())
      throw Error(ErrorCode::internal, "weight '" + program_.tensors[id].name + "' has no memory");
    return found->second->resource(program_.tensors[id].desc.byte_size());
  }

  std::vector<std::shared_ptr<gpu::Arena>> arenas() const override {
    std::set<std::shared_ptr<gpu::Arena>> distinct;
    for (const auto& [id, weight] : weights) distinct.insert(weight->arena());
    return {distinct.begin(), distinct.end()};
  }

  std::map<TensorId, std::shared_ptr<const DeviceSlot>> weights;

 private:
  const Program& program_;
};

void upload(gpu::Uploader& uploader, const DeviceSlot& slot, std::span<const std::byte> bytes) {
  if (slot.image)
    uploader.upload(*slot.image, bytes);
  else
    uploader.upload(*slot.buffer, 0, bytes);
}

}  // namespace

WeightStore::WeightStore(std::shared_ptr<gpu::Context> context,
                         std::unordered_set<const std::byte*> constants)
    : context_(std::move(context)), constants_(std::move(constants)) {}

// Two weights with the same key have the same bytes in the same form.
std::string WeightStore::key(const VirtualTensor& weight) const {
  std::string text = to_string(weight.desc.shape) + " " + std::string(name(weight.desc.element)) + " " +
                     std::string(name(weight.desc.storage)) + " " + std::string(name(weight.desc.layout)) +
                     " ";
  if (weight.origin.packing.empty()) {
    const platform::Fingerprint content = platform::fingerprint(pack_weight(weight));
    return text + std::to_string(content.low) + "," + std::to_string(content.high);
  }
  text += weight.origin.packing;
  for (const HostTensor& source : weight.origin.sources) {
    text += " " + std::string(name(source.dtype())) + to_string(source.shape()) + "=";
    if (constants_.contains(source.data())) {
      text += "@" + std::to_string(reinterpret_cast<uintptr_t>(source.data()));
    } else {
      const platform::Fingerprint content = platform::fingerprint({source.data(), source.byte_size()});
      text += std::to_string(content.low) + "," + std::to_string(content.high);
    }
  }
  return text;
}

WeightStore::Weight WeightStore::find(const std::string& key) const {
  const auto found = weights_.find(key);
  return found == weights_.end() ? nullptr : found->second.lock();
}

std::unique_ptr<ProgramWeights> WeightStore::acquire(const Program& program) {
  const std::lock_guard lock(mutex_);
  std::erase_if(weights_, [](const auto& entry) { return entry.second.expired(); });
  auto result = std::make_unique<ResidentWeights>(program);
  std::map<TensorId, std::string> missing;
  std::unordered_map<std::string, std::shared_ptr<DeviceSlot>> made;
  std::vector<DeviceSlot*> slots;
  for (const TensorId id : weight_ids(program)) {
    std::string wanted = key(program.tensors[id]);
    if (Weight weight = find(wanted)) {
      result->weights[id] = std::move(weight);
      continue;
    }
    auto& slot = made[wanted];
    if (!slot) {
      slot = std::make_shared<DeviceSlot>(make_slot(context_, program.tensors[id].desc));
      slots.push_back(slot.get());
      missing.emplace(id, std::move(wanted));
    }
    result->weights[id] = slot;
  }
  bind_together(context_, std::move(slots), gpu::MemoryKind::device, gpu::MemoryCategory::weights);
  gpu::Uploader uploader(context_);
  for (const auto& [id, name] : missing) upload(uploader, *made[name], pack_weight(program.tensors[id]));
  uploader.finish();
  for (auto& [id, name] : missing) weights_[name] = made[name];
  return result;
}

}  // namespace vellum

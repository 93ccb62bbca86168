#include "exec/weight_store.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "exec/packed_weights.hpp"
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

  WeightBytes bytes() const override {
    WeightBytes bytes;
    std::set<std::shared_ptr<const DeviceSlot>> distinct;
    for (const auto& [id, weight] : weights)
      if (distinct.insert(weight).second) bytes.in_all += program_.tensors[id].desc.byte_size();
    return bytes;
  }

  std::map<TensorId, std::shared_ptr<const DeviceSlot>> weights;

 private:
  const Program& program_;
};

// Where the host reaches a buffer, it writes there directly.
bool needs_staging(const DeviceSlot& slot) { return slot.image || !slot.buffer->data(); }

}  // namespace

WeightStore::WeightStore(std::shared_ptr<gpu::Context> context, FixedConstants constants, FindPacked packed,
                         std::shared_ptr<gpu::MemoryBudget> memory_budget)
    : context_(std::move(context)),
      constants_(std::move(constants)),
      packed_(std::move(packed)),
      memory_budget_(std::move(memory_budget)) {}

WeightStore::Weight WeightStore::find(const std::string& key) const {
  const auto found = weights_.find(key);
  return found == weights_.end() ? nullptr : found->second.lock();
}

void WeightStore::upload(gpu::Uploader& uploader, const DeviceSlot& slot, const VirtualTensor& weight) const {
  std::vector<std::byte> made;
  std::optional<PackedWeight> same = unchanged(weight);
  std::span<const std::byte> bytes;
  if (same)
    bytes = same->bytes;
  else if (packed_)
    bytes = packed_(weight);
  if (bytes.empty()) {
    made = pack_weight(weight);
    bytes = made;
  }
  if (slot.image)
    uploader.upload(*slot.image, bytes);
  else
    uploader.upload(*slot.buffer, 0, bytes);
}

std::unique_ptr<ProgramWeights> WeightStore::acquire(const Program& program, const Progress* progress) {
  const std::lock_guard lock(mutex_);
  std::erase_if(weights_, [](const auto& entry) { return entry.second.expired(); });
  auto result = std::make_unique<ResidentWeights>(program);
  std::map<TensorId, std::string> missing;
  std::unordered_map<std::string, std::shared_ptr<DeviceSlot>> made;
  std::vector<DeviceSlot*> slots;
  for (const TensorId id : weight_ids(program)) {
    std::string wanted = weight_key(program.tensors[id], constants_);
    if (Weight weight = find(wanted)) {
      result->weights[id] = std::move(weight);
      continue;
    }
    auto& slot = made[wanted];
    if (!slot) {
      slot = std::make_shared<DeviceSlot>(make_slot(context_, program.tensors[id].desc));
      slot->set_name(*context_, program.tensors[id].name);
      slots.push_back(slot.get());
      missing.emplace(id, std::move(wanted));
    }
    result->weights[id] = slot;
  }
  bind_together(context_, slots, gpu::MemoryKind::device, {gpu::MemoryCategory::weights, memory_budget_});
  uint64_t staged = 0;
  for (const auto& [id, name] : missing)
    if (needs_staging(*made[name])) staged += staged_bytes(program.tensors[id].desc.byte_size());
  gpu::Uploader uploader(context_, staged, {.memory_budget = memory_budget_});
  for (const auto& [id, name] : missing) {
    check(progress);
    upload(uploader, *made[name], program.tensors[id]);
  }
  uploader.finish();
  for (auto& [id, name] : missing) weights_[name] = made[name];
  return result;
}

}  // namespace vellum

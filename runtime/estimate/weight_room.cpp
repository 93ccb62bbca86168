#include "estimate/weight_room.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "caps/staging.hpp"
#include "exec/packed_weights.hpp"
#include "exec/streamed_weights.hpp"
#include "plan/place_in_order.hpp"
#include "plan/weight_stream.hpp"

namespace vellum {
namespace {

const TensorDesc& desc_of(const EstimateInputs& in, TensorId id) { return in.program().tensors[id].desc; }

bool is_staged(const EstimateInputs& in, TensorId id) {
  return desc_of(in, id).storage != Storage::buffer || !in.caps.unified_memory;
}

// Weights that are equal lie on the device once.
std::vector<TensorId> distinct_weights(const Program& program, const FixedConstants& constants) {
  std::vector<TensorId> distinct;
  std::set<std::string> known;
  for (const TensorId id : weight_ids(program))
    if (known.insert(weight_key(program.tensors[id], constants)).second) distinct.push_back(id);
  return distinct;
}

WeightRoom resident_weights(const EstimateInputs& in, const FixedConstants& constants) {
  const std::vector<TensorId> ids = distinct_weights(in.program(), constants);
  WeightRoom room{lasting_room(in, ids)};
  uint64_t staged = 0;
  for (const TensorId id : ids)
    if (is_staged(in, id)) staged += staged_bytes(desc_of(in, id).byte_size());
  if (staged) room.upload_staging = buffer_bytes(staging_capacity(staged), in.rules);
  return room;
}

// As far as its pieces of staging memory are used: what goes through them is copied segment by segment.
uint64_t stream_staging(const EstimateInputs& in, const WeightUses& weights, const WeightStreamPlan& plan) {
  const StreamOptions options{.budget = in.weights_budget};
  uint64_t capacity = staging_capacity(options.piece_bytes()), copies = 0;
  for (size_t s = 0; s < plan.segments.size(); ++s) {
    uint64_t staged = 0;
    const auto add = [&](uint32_t use) {
      const TensorDesc& desc = desc_of(in, weights.tensors[use]);
      if (!is_staged(in, weights.tensors[use])) return;
      staged += staged_bytes(desc.byte_size());
      if (desc.storage != Storage::buffer)  // a row at least goes at once
        capacity = std::max(capacity, uint64_t{desc.extent().width} * 4 * size_of(desc.element));
    };
    for (uint32_t use = 0; s == 0 && use < weights.uses.size(); ++use)
      if (plan.pinned[use]) add(use);
    for (const uint32_t use : plan.segments[s].loads) add(use);
    copies += (staged + capacity - 1) / capacity;
  }
  return std::min<uint64_t>(copies, StreamOptions::kPieces) * buffer_bytes(capacity, in.rules);
}

WeightRoom streamed_weights(const EstimateInputs& in, const FixedConstants& constants) {
  const auto need = [&](TensorId id) { return in.rules.need(object_desc(desc_of(in, id))); };
  const WeightUses weights = weight_uses(in.program(), constants, need, in.rules.buffer_image_granularity);
  WeightRoom room;
  if (weights.uses.empty()) return room;
  const WeightStreamPlan plan =
      plan_weight_stream(weights.uses, static_cast<int64_t>(in.program().tasks.size()),
                         std::min(in.weights_budget, in.rules.max_allocation_bytes));
  room.allocated = room.tight = plan.total_bytes;  // weights lie over one another: no padding to tell apart
  room.run_staging = stream_staging(in, weights, plan);
  uint64_t packed = 0;
  for (const TensorId id : weights.tensors)
    if (!unchanged(in.program().tensors[id])) packed += desc_of(in, id).byte_size();
  // More are kept in files, which stay out of the process once they are copied.
  if (in.caps.unified_memory && packed <= PackedWeightsOptions{}.most_in_memory) room.host = packed;
  return room;
}

}  // namespace

Room lasting_room(const EstimateInputs& in, std::vector<TensorId> ids) {
  const auto buffers = std::stable_partition(
      ids.begin(), ids.end(), [&](TensorId id) { return desc_of(in, id).storage != Storage::buffer; });
  Room room;
  std::vector<MemoryNeed> needs;
  for (const TensorId id : ids) {
    needs.push_back(in.rules.need(object_desc(desc_of(in, id))));
    room.tight += desc_of(in, id).byte_size();
  }
  room.allocated = place_in_order(needs, static_cast<size_t>(buffers - ids.begin()), in.rules).total_bytes();
  return room;
}

WeightRoom weight_room(const EstimateInputs& in, const FixedConstants& constants) {
  return in.weights_budget ? streamed_weights(in, constants) : resident_weights(in, constants);
}

}  // namespace vellum

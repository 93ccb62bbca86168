#include "estimate/weight_footprint.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "estimate/host_memory.hpp"
#include "exec/packed_weights.hpp"
#include "exec/streamed_weights.hpp"
#include "plan/place_in_order.hpp"
#include "vulkan/staging.hpp"

namespace vellum {
namespace {

const TensorDesc& desc_of(const EstimateInputs& in, TensorId id) { return in.program().tensors[id].desc; }

bool is_staged(const EstimateInputs& in, TensorId id) {
  return desc_of(in, id).storage != Storage::buffer || !in.caps.unified_memory;
}

// Equal weights are on the device once.
std::vector<TensorId> distinct_weights(const Program& program, const FixedConstants& constants) {
  std::vector<TensorId> distinct;
  std::set<std::string> known;
  for (const TensorId id : weight_ids(program))
    if (known.insert(weight_key(program.tensors[id], constants)).second) distinct.push_back(id);
  return distinct;
}

WeightFootprint resident_weights(const EstimateInputs& in, const FixedConstants& constants) {
  const std::vector<TensorId> ids = distinct_weights(in.program(), constants);
  WeightFootprint footprint{persistent_footprint(in, ids)};
  uint64_t staged = 0;
  for (const TensorId id : ids)
    if (is_staged(in, id)) staged += staged_bytes(desc_of(in, id).byte_size());
  if (staged) footprint.upload_staging = buffer_bytes(staging_capacity(staged), in.rules);
  return footprint;
}

// Returns the bytes of the staging buffers that streaming uses. Weights that need them are copied segment by
// segment.
uint64_t stream_staging(const EstimateInputs& in, const WeightUses& weights, const WeightStreamPlan& plan) {
  const StreamOptions options{.budget = in.weights_budget};
  uint64_t capacity = staging_capacity(options.piece_bytes()), copies = 0;
  for (size_t s = 0; s < plan.segments.size(); ++s) {
    uint64_t staged = 0;
    const auto add = [&](uint32_t use) {
      const TensorDesc& desc = desc_of(in, weights.tensors[use]);
      if (!is_staged(in, weights.tensors[use])) return;
      staged += staged_bytes(desc.byte_size());
      if (desc.storage != Storage::buffer)  // an image is copied in whole rows
        capacity = std::max(capacity, uint64_t{desc.extent().width} * 4 * size_of(desc.element));
    };
    for (uint32_t use = 0; s == 0 && use < weights.uses.size(); ++use)
      if (plan.pinned[use]) add(use);
    for (const uint32_t use : plan.segments[s].loads) add(use);
    copies += (staged + capacity - 1) / capacity;
  }
  return std::min<uint64_t>(copies, StreamOptions::kPieces) * buffer_bytes(capacity, in.rules);
}

WeightFootprint streamed_weights(const EstimateInputs& in, const FixedConstants& constants) {
  const auto need = [&](TensorId id) { return in.rules.need(object_desc(desc_of(in, id))); };
  WeightUses weights = weight_uses(in.program(), constants, need, in.rules.buffer_image_granularity);
  WeightFootprint footprint;
  if (weights.uses.empty()) return footprint;
  WeightStreamPlan plan = plan_weight_stream(weights.uses, static_cast<int64_t>(in.program().tasks.size()),
                                             std::min(in.weights_budget, in.rules.max_allocation_bytes));
  footprint.allocated = footprint.tight = plan.total_bytes;  // weights overlap, so padding cannot be counted
  footprint.run_staging = stream_staging(in, weights, plan);
  uint64_t packed = 0;
  for (const TensorId id : weights.tensors)
    if (!unchanged(in.program().tensors[id])) packed += desc_of(in, id).byte_size();
  // Weights beyond this size are in files, whose pages leave the process after the copy.
  if (shares_host_memory(in.caps) && packed <= PackedWeightsOptions{}.most_in_memory) footprint.host = packed;
  footprint.uses = std::move(weights.uses);
  footprint.stream = std::move(plan);
  return footprint;
}

}  // namespace

Footprint persistent_footprint(const EstimateInputs& in, std::vector<TensorId> ids) {
  const auto buffers = std::stable_partition(
      ids.begin(), ids.end(), [&](TensorId id) { return desc_of(in, id).storage != Storage::buffer; });
  Footprint footprint;
  std::vector<MemoryNeed> needs;
  for (const TensorId id : ids) {
    needs.push_back(in.rules.need(object_desc(desc_of(in, id))));
    footprint.tight += desc_of(in, id).byte_size();
  }
  const auto images = static_cast<size_t>(buffers - ids.begin());
  footprint.allocated = place_in_order(needs, images, in.rules).total_bytes();
  return footprint;
}

WeightFootprint weight_footprint(const EstimateInputs& in, const FixedConstants& constants) {
  return in.weights_budget ? streamed_weights(in, constants) : resident_weights(in, constants);
}

}  // namespace vellum

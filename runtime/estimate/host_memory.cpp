#include "estimate/host_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <tuple>

#include "exec/pipeline_keys.hpp"

namespace vellum {
namespace {

struct KeyOrder {
  static auto tie(const gpu::PipelineKey& key) {
    return std::tie(key.shader, key.defines, key.bindings, key.push_constant_bytes, key.workgroup_size,
                    key.subgroup_size);
  }
  bool operator()(const gpu::PipelineKey& a, const gpu::PipelineKey& b) const { return tie(a) < tie(b); }
};

// Of the model, and those that passes made of them, which the session keeps to pack weights from.
uint64_t constant_bytes(const EstimateInputs& in) {
  std::set<const std::byte*> counted;
  uint64_t bytes = 0;
  const auto count = [&](const HostTensor& constant) {
    if (counted.insert(constant.data()).second) bytes += constant.byte_size();
  };
  for (const Value& value : in.graph.values)
    if (value.constant) count(*value.constant);
  for (const TensorId id : weight_ids(in.program))
    for (const HostTensor& source : in.program.tensors[id].origin.sources) count(source);
  return bytes;
}

// How often the bodies of the innermost loops stand in the driver's code, as far as the macros of a shader
// tell: tiles are unrolled, and in attention, for each query of a tile, the products with the keys, the
// slices of the values, and where these are stored one by one each slice again. The columns of a
// convolution's kernel are as well, but share what they load, and hardly add to what a compiler takes.
uint64_t unrolled_steps(const gpu::PipelineKey& key) {
  constexpr uint64_t kMost = 1 << 20;  // far beyond what any compiler gets through
  uint64_t steps = 1, slices = 0;
  bool scalars = false;
  for (const auto& [name, value] : key.defines) {
    const uint64_t number = std::clamp<uint64_t>(std::strtoull(value.c_str(), nullptr, 10), 1, kMost);
    if (name.starts_with("TILE_")) steps = std::min(kMost, steps * number);
    if (name == "V_SLICES") slices = number;
    if (name == "Y_SCALARS") scalars = true;
  }
  return std::min(kMost, steps * (1 + (scalars ? 2 : 1) * slices));
}

}  // namespace

void add_host_memory(const EstimateInputs& in, MemoryEstimate& estimate) {
  std::set<gpu::PipelineKey, KeyOrder> pipelines;
  for (const gpu::PipelineKey& key : pipeline_keys(in.program)) {
    ++estimate.dispatches;
    pipelines.insert(key);
  }
  estimate.pipelines = pipelines.size();
  ResidentMemory& resident = estimate.resident;
  if (in.caps.unified_memory) resident.host += constant_bytes(in);
  // Compiled one at a time: what the compiler takes for one is free for the next.
  for (const gpu::PipelineKey& key : pipelines)
    estimate.unrolled_steps = std::max(estimate.unrolled_steps, unrolled_steps(key));
  if (const auto& process = in.caps.process) {
    resident.driver = process->driver_bytes;
    resident.pipelines = pipelines.size() * process->bytes_per_pipeline +
                         estimate.unrolled_steps * process->bytes_per_unrolled_step;
  }
  estimate.use.resident =
      resident.padding + resident.host + resident.driver.value_or(0) + resident.pipelines.value_or(0);
}

}  // namespace vellum

#include "estimate/host_memory.hpp"

#include <algorithm>
#include <set>

#include "caps/device_policy.hpp"
#include "estimate/shader_size.hpp"
#include "exec/pipeline_keys.hpp"

namespace vellum {
namespace {

// Of the model, and those that passes made of them, which the session keeps to pack weights from.
uint64_t constant_bytes(const EstimateInputs& in) {
  std::set<const std::byte*> counted;
  uint64_t bytes = 0;
  const auto count = [&](const HostTensor& constant) {
    if (counted.insert(constant.data()).second) bytes += constant.byte_size();
  };
  for (const Value& value : in.graph.values)
    if (value.constant) count(*value.constant);
  for (const TensorId id : weight_ids(in.program()))
    for (const HostTensor& source : in.program().tensors[id].origin.sources) count(source);
  return bytes;
}

// Copies of what the partition with run-time shapes reads. The sizes of its results are known only in a run.
uint64_t host_input_bytes(const EstimateInputs& in) {
  if (!in.program().has_run_time_shapes()) return 0;
  uint64_t bytes = 0;
  for (const Port& port : in.program().tasks.back().host->inputs)
    if (!port.constant)
      bytes += static_cast<uint64_t>(checked_element_count(port.type.shape)) * size_of(port.type.dtype);
  return bytes;
}

// Of all pipelines and of the largest, as the driver's compiler sees them.
void count_operations(const EstimateInputs& in, const std::set<gpu::PipelineKey>& pipelines,
                      MemoryEstimate& estimate) {
  gpu::ShaderCompiler compiler({}, nullptr);
  if (in.shaders) compiler.add_precompiled_shaders(in.shaders);
  for (const gpu::PipelineKey& key : pipelines) {
    const uint64_t operations = unrolled_operations(compiler.spirv(gpu::shader_request(key)));
    // Times 32 bits this is within 64.
    estimate.shader_operations = std::min(estimate.shader_operations + operations, kMostOperations << 10);
    estimate.largest_shader_operations = std::max(estimate.largest_shader_operations, operations);
  }
}

}  // namespace

void add_host_memory(const EstimateInputs& in, MemoryEstimate& estimate) {
  std::set<gpu::PipelineKey> pipelines;
  for (const gpu::PipelineKey& key : pipeline_keys(in.program())) {
    ++estimate.dispatches;
    pipelines.insert(key);
  }
  estimate.pipelines = pipelines.size();
  ResidentMemory& resident = estimate.resident;
  if (in.caps.unified_memory) resident.host += constant_bytes(in) + in.in_flight * host_input_bytes(in);
  if (const auto process = device_policy(in.caps).process_traits(in.caps)) {
    count_operations(in, pipelines, estimate);
    resident.driver = process->driver_bytes;
    resident.pipelines = estimate.shader_operations * process->bytes_per_operation +
                         estimate.largest_shader_operations * process->bytes_per_operation_of_largest;
  }
  estimate.use.resident =
      resident.padding + resident.host + resident.driver.value_or(0) + resident.pipelines.value_or(0);
}

}  // namespace vellum

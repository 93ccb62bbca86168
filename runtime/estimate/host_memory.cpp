#include "estimate/host_memory.hpp"

#include <algorithm>
#include <set>

#include "cost/device_traits.hpp"
#include "estimate/shader_size.hpp"
#include "exec/pipeline_keys.hpp"
#include "platform/host_cpu.hpp"

namespace vellum {
namespace {

// Returns the bytes of the model's constants, and of the constants that passes made of them. The session
// keeps both, because weights are packed from them.
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

// Returns the bytes of the copies of tensors that the partition with run-time shapes reads. The sizes of its
// results are known only in a run.
uint64_t host_input_bytes(const EstimateInputs& in) {
  if (!in.program().has_run_time_shapes()) return 0;
  uint64_t bytes = 0;
  for (const Port& port : in.program().tasks.back().host->inputs)
    if (!port.constant)
      bytes += static_cast<uint64_t>(checked_element_count(port.type.shape)) * size_of(port.type.dtype);
  return bytes;
}

}  // namespace

CompiledWork compiled_work(const std::set<gpu::PipelineKey>& pipelines,
                           const std::shared_ptr<const gpu::CompiledShaders>& shaders) {
  gpu::ShaderCompiler compiler({}, nullptr);
  if (shaders) compiler.add_precompiled_shaders(shaders);
  CompiledWork work;
  for (const gpu::PipelineKey& key : pipelines) {
    const uint64_t operations = unrolled_operations(compiler.spirv(gpu::shader_request(key)));
    // The bound keeps products with 32-bit numbers within 64 bits.
    work.operations = std::min(work.operations + operations, kMostOperations << 10);
    work.largest_operations = std::max(work.largest_operations, operations);
  }
  return work;
}

void add_host_memory(const EstimateInputs& in, MemoryEstimate& estimate) {
  std::set<gpu::PipelineKey> pipelines;
  for (const gpu::PipelineKey& key : pipeline_keys(in.program())) {
    ++estimate.dispatches;
    pipelines.insert(key);
  }
  estimate.pipelines = pipelines.size();
  ResidentMemory& resident = estimate.resident;
  if (shares_host_memory(in.caps)) resident.host += constant_bytes(in) + in.in_flight * host_input_bytes(in);
  std::optional<std::pair<uint64_t, uint64_t>> uncertain;
  if (const auto process = process_traits(in.caps)) {
    const CompiledWork work = compiled_work(pipelines, in.shaders);
    estimate.shader_operations = work.operations;
    estimate.largest_shader_operations = work.largest_operations;
    resident.driver = process->driver_bytes;
    resident.pipelines = pipeline_bytes(*process, work);
    estimate.driver_host = process->host;
    uncertain = uncertain_driver_bytes(*process, work, platform::host_cpu());
  }
  estimate.use.resident =
      resident.padding + resident.host + resident.driver.value_or(0) + resident.pipelines.value_or(0);
  if (!uncertain) return;
  const uint64_t certain = estimate.use.total() - *resident.driver - *resident.pipelines;
  estimate.interval = {certain + uncertain->first, certain + uncertain->second};
}

}  // namespace vellum

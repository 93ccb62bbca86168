#include "exec/host_partition.hpp"

#include "exec/host_values.hpp"
#include "graph/operator_support.hpp"
#include "graph/tensor_memory.hpp"
#include "vulkan/staging.hpp"
#include "vulkan/transfer.hpp"

namespace vellum {
namespace {

HostTensor read_input(const std::shared_ptr<gpu::Context>& context, const Program& program, const Port& port,
                      const DeviceTensors& tensors) {
  if (port.constant) return *port.constant;
  const TensorDesc& desc = program.tensors[port.tensor].desc;
  const gpu::Buffer& buffer = tensors.buffer(port.tensor);
  if (!is_host_visible(program, port.tensor))
    return read_linear(desc, port.type, gpu::download(context, buffer, tensors.memory_budget()));
  buffer.invalidate();
  return read_linear(desc, port.type, {buffer.data(), buffer.size()});
}

void write_outputs(const std::shared_ptr<gpu::Context>& context, const Program& program,
                   const HostPartition& partition, const std::vector<HostTensor>& results,
                   const DeviceTensors& tensors) {
  uint64_t staged = 0;
  for (const TensorId id : partition.outputs) staged += staged_bytes(program.tensors[id].desc.byte_size());
  gpu::Uploader uploader(context, staged, {.memory_budget = tensors.memory_budget()});
  for (size_t i = 0; i < partition.outputs.size(); ++i) {
    const TensorDesc& desc = program.tensors[partition.outputs[i]].desc;
    std::vector<std::byte> bytes(desc.byte_size());
    write_linear(desc, results.at(i), bytes);
    uploader.upload(tensors.buffer(partition.outputs[i]), 0, bytes);
  }
  uploader.finish();
}

// Only the run determines the shapes of such tensors, so that no estimate counts them. Their limit grows with
// what they are computed from, as that of folded constants does.
uint64_t most_bytes_of(const Graph& tail, std::span<const HostTensor> inputs) {
  constexpr uint64_t kBytesPerByteOfInputs = 8;
  uint64_t bytes = 0;
  for (const HostTensor& input : inputs) bytes += input.byte_size();
  for (const Value& value : tail.values)
    if (value.constant) bytes += value.constant->byte_size();
  return saturating_add(tail.limits.folded_bytes, saturating_multiply(bytes, kBytesPerByteOfInputs));
}

std::vector<HostTensor> run_tail(const Graph& tail, std::span<const HostTensor> inputs,
                                 const RunRegion& run_region) {
  const TensorMemoryLimit limit(most_bytes_of(tail, inputs));
  if (!run_region) return evaluate_with_regions(tail, inputs, {});
  return evaluate_with_regions(tail, inputs, [&](const DeviceRegion& region, HostInputs arguments) {
    const TensorMemoryLimit::Pause pause;  // the session of a region keeps tensors
    return run_region(region, arguments);
  });
}

}  // namespace

std::vector<HostTensor> run_host_partition(const std::shared_ptr<gpu::Context>& context,
                                           const Program& program, const HostPartition& partition,
                                           const DeviceTensors& tensors, const RunRegion& run_region) {
  std::vector<HostTensor> inputs;
  for (const Port& port : partition.inputs) inputs.push_back(read_input(context, program, port, tensors));
  if (partition.has_run_time_shapes) return run_tail(*partition.graph, inputs, run_region);
  std::vector<HostTensor> results = evaluate_with_regions(*partition.graph, inputs, run_region);
  write_outputs(context, program, partition, results, tensors);
  return results;
}

}  // namespace vellum

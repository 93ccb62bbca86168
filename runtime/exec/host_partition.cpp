#include "exec/host_partition.hpp"

#include "exec/host_values.hpp"
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

}  // namespace

std::vector<HostTensor> run_host_partition(const std::shared_ptr<gpu::Context>& context,
                                           const Program& program, const HostPartition& partition,
                                           const DeviceTensors& tensors, const RunRegion& run_region) {
  std::vector<HostTensor> inputs;
  for (const Port& port : partition.inputs) inputs.push_back(read_input(context, program, port, tensors));
  std::vector<HostTensor> results = evaluate_with_regions(*partition.graph, inputs, run_region);
  if (!partition.has_run_time_shapes) write_outputs(context, program, partition, results, tensors);
  return results;
}

}  // namespace vellum

#include "exec/recording.hpp"

#include <algorithm>

#include "vellum/error.hpp"
#include "vulkan/context.hpp"

namespace vellum {
namespace {

gpu::DescriptorSets bound_sets(const Executor& executor, const DeviceTensors& tensors,
                               std::span<const BoundPort> ports) {
  const auto replacement = [&](TensorId root, uint64_t offset,
                               uint64_t bytes) -> std::optional<gpu::BoundResource> {
    const auto port = std::ranges::find(ports, root, &BoundPort::root);
    if (port == ports.end()) return std::nullopt;
    return gpu::BoundResource(port->buffer, port->offset + port->bytes, port->offset + offset, bytes);
  };
  return make_descriptor_sets(executor.context(), executor.program(), tensors, executor.pipelines(),
                              replacement);
}

}  // namespace

PortBuffer port_buffer(const Executor& executor, const Port& port) {
  const Program& program = executor.program();
  const DeviceCaps& caps = executor.context()->caps();
  const TensorId root = program.root(port.tensor);
  PortBuffer buffer{program.tensors[root].desc.byte_size(), caps.min_storage_buffer_offset_alignment,
                    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
  for (const Task& task : program.tasks) {
    if (!task.dispatch) continue;
    for (const Binding& binding : task.dispatch->bindings) {
      if (!binding.texel_buffer || program.root(binding.tensor) != root) continue;
      buffer.usage |= VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT;
      buffer.alignment = caps.tensor_offset_alignment();
    }
  }
  return buffer;
}

void check_recordable(const Executor& executor) {
  const auto refuse = [](const std::string& why) {
    throw Error(ErrorCode::unsupported,
                "the inference cannot be recorded: " + why + "; use run() or submit()");
  };
  if (executor.streams_weights()) refuse("its weights stream to the device (weights_budget)");
  for (const Task& task : executor.program().tasks)
    if (task.host)
      refuse("node '" + node_name(task) + "' (" + std::string(operator_type(task)) + ") runs on the host");
}

RecordedNetwork::RecordedNetwork(Executor& executor, std::span<const BoundPort> ports)
    : context_(executor.context()),
      model_(executor.shared_model()),
      weights_(executor.weight_source()),
      tensors_(executor.complete_tensors()),
      pipelines_(executor.pipelines()),
      dispatch_of_task_(dispatches_of_tasks(executor.program())),
      sets_(bound_sets(executor, tensors_, ports)) {}

void RecordedNetwork::record(gpu::CommandBuffer& commands) const {
  const TaskRecorder tasks{
      *model_, tensors_, pipelines_, sets_, dispatch_of_task_, nullptr, context_->has_debug_labels()};
  for (size_t t = 0; t < model_->program.tasks.size(); ++t) tasks.record(commands, t, t == 0);
}

void RecordedNetwork::record(VkCommandBuffer recorded_to) const {
  gpu::CommandBuffer commands(context_, recorded_to);
  record(commands);
}

void RecordedNetwork::submit(const SubmitSemaphores& semaphores) {
  std::call_once(recorded_, [&] {
    gpu::CommandBuffer& commands = commands_.emplace(context_);
    commands.begin_simultaneous_use();
    record(commands);
    commands.end();
  });
  gpu::submit_without_fence(*context_, *commands_, {.application = semaphores});
}

}  // namespace vellum

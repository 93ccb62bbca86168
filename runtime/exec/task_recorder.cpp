#include "exec/task_recorder.hpp"

#include "exec/poison.hpp"
#include "plan/buffer_copies.hpp"
#include "vulkan/context.hpp"

namespace vellum {
namespace {

// Tasks are dispatches, and copies that replace some of them.
constexpr gpu::Scope kTaskWrite = gpu::kComputeWrite | gpu::kTransferWrite;
constexpr gpu::Scope kTaskReadWrite = gpu::kComputeReadWrite | gpu::kTransferRead | gpu::kTransferWrite;

void record_copy(gpu::CommandBuffer& commands, const DeviceTensors& tensors, const PlainCopy& copy) {
  const gpu::BoundResource from = tensors.resource(copy.from), to = tensors.resource(copy.to);
  commands.copy(from.buffer, from.offset + copy.from_offset, to.buffer, to.offset + copy.to_offset,
                copy.bytes);
}

}  // namespace

std::vector<size_t> dispatches_of_tasks(const Program& program) {
  std::vector<size_t> indices;
  size_t dispatches = 0;
  for (const Task& task : program.tasks) {
    indices.push_back(dispatches);
    if (task.dispatch) ++dispatches;
  }
  return indices;
}

gpu::DescriptorSets make_descriptor_sets(const std::shared_ptr<gpu::Context>& context, const Program& program,
                                         const DeviceTensors& tensors, const Pipelines& pipelines,
                                         const ReplaceResource& replacement) {
  gpu::DescriptorSets sets(context, pipelines);
  size_t index = 0;
  for (const Task& task : program.tasks) {
    if (!task.dispatch) continue;
    std::vector<gpu::BoundResource> resources;
    for (const Binding& binding : task.dispatch->bindings) {
      const TensorId id = binding.tensor;
      const auto replaced = replacement ? replacement(program.root(id), program.offset(id),
                                                      program.tensors[id].desc.byte_size())
                                        : std::nullopt;
      resources.push_back(replaced ? *replaced : tensors.resource(id));
    }
    sets.write(index++, resources);
  }
  return sets;
}

void TaskRecorder::record_barrier(gpu::CommandBuffer& commands, size_t task, bool after_earlier_work) const {
  const TaskSync& sync = model.barriers[task];
  std::vector<gpu::ImageTransition> transitions;
  for (uint32_t object : sync.discarded_objects) transitions.push_back({&tensors.object_image(object)});
  // Writes become visible; what was read is waited for, which needs no access of its own.
  if (sync.barrier || after_earlier_work || !transitions.empty())
    commands.barrier(kTaskWrite, kTaskReadWrite, transitions);
}

void TaskRecorder::record(gpu::CommandBuffer& commands, size_t task, bool after_earlier_work,
                          const SubmitRange* part) const {
  const Dispatch& dispatch = *model.program.tasks[task].dispatch;
  if (labels) commands.begin_label(dispatch.name + " (" + dispatch.op + ")");
  // The parts of one dispatch do not wait for one another.
  if (!part || !part->continues) {
    record_barrier(commands, task, after_earlier_work);
    if (poison) poison->record(commands, tensors, task);
  }

  // A command to copy has no counts that could be 0.
  const bool copies =
      !counts.buffer && is_copied_by_command(model.program, dispatch, commands.context().caps());
  const size_t index = dispatch_of_task[task];
  if (!copies) {
    const gpu::Pipeline& pipeline = *pipelines[index];
    commands.bind(pipeline, sets[index]);
    if (const auto bytes = dispatch.push_constants.bytes(); !bytes.empty())
      commands.push_constants(pipeline, bytes);
  }
  if (queries && (!part || !part->continues))
    queries->write(commands, static_cast<uint32_t>(2 * task), VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT);
  if (copies)
    record_copy(commands, tensors, *dispatch.copy);
  else if (counts.buffer)
    commands.dispatch_indirect(*counts.buffer, counts.offset + index * sizeof(VkDispatchIndirectCommand));
  else if (part)
    commands.dispatch_from(part->workgroups->first, part->workgroups->count);
  else
    commands.dispatch(dispatch.workgroup_count);
  if (queries && (!part || !part->is_continued))
    queries->write(commands, static_cast<uint32_t>(2 * task + 1),
                   copies ? VK_PIPELINE_STAGE_TRANSFER_BIT : VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
  if (labels) commands.end_label();
}

}  // namespace vellum

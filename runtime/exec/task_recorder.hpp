// Records the dispatches of a compiled model, and the barriers between them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "compile/compile.hpp"
#include "exec/device_tensors.hpp"
#include "vulkan/commands.hpp"
#include "vulkan/descriptors.hpp"
#include "vulkan/pipeline.hpp"
#include "vulkan/timestamps.hpp"

namespace vellum {

// One for each dispatch, in order of tasks.
using Pipelines = std::vector<std::shared_ptr<const gpu::Pipeline>>;

// Returns the index in Pipelines of each task's dispatch; that of the next dispatch for a host partition.
std::vector<size_t> dispatches_of_tasks(const Program& program);

// One set for each dispatch that binds the tensors' memory, or what `replacement` returns for a root instead,
// if it returns anything.
using ReplaceResource =
    std::function<std::optional<gpu::BoundResource>(TensorId root, uint64_t offset, uint64_t bytes)>;
gpu::DescriptorSets make_descriptor_sets(const std::shared_ptr<gpu::Context>& context, const Program& program,
                                         const DeviceTensors& tensors, const Pipelines& pipelines,
                                         const ReplaceResource& replacement = {});

// Refers to its members' owners, which outlive it.
struct TaskRecorder {
  const CompiledModel& model;
  const DeviceTensors& tensors;
  const Pipelines& pipelines;
  const gpu::DescriptorSets& sets;
  const std::vector<size_t>& dispatch_of_task;
  const gpu::TimestampQueries* queries = nullptr;  // two for each task
  bool labels = false;                             // of each task, for debuggers

  // after_earlier_work: of the same queue, that used the same memory and was not waited for.
  void record(gpu::CommandBuffer& commands, size_t task, bool after_earlier_work = false) const;
};

}  // namespace vellum

// Records the dispatches of a compiled model, and the barriers between them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "compile/compile.hpp"
#include "exec/device_tensors.hpp"
#include "plan/submits.hpp"
#include "vulkan/commands.hpp"
#include "vulkan/descriptors.hpp"
#include "vulkan/pipeline.hpp"
#include "vulkan/timestamps.hpp"

namespace vellum {

class Poison;

// Workgroup counts that the device reads when it executes a dispatch: three words for each dispatch, from
// `offset` on.
struct IndirectCounts {
  const gpu::Buffer* buffer = nullptr;
  uint64_t offset = 0;
};

// The pipeline of each dispatch, in the order of tasks.
using Pipelines = std::vector<std::shared_ptr<const gpu::Pipeline>>;

// Returns for each task the index of its dispatch in Pipelines. A host partition gets the index of the next
// dispatch.
std::vector<size_t> dispatches_of_tasks(const Program& program);

// Makes one descriptor set for each dispatch. A set binds the resource that `replacement` returns for a
// tensor's root, or else the memory of the tensor.
using ReplaceResource =
    std::function<std::optional<gpu::BoundResource>(TensorId root, uint64_t offset, uint64_t bytes)>;
gpu::DescriptorSets make_descriptor_sets(const std::shared_ptr<gpu::Context>& context, const Program& program,
                                         const DeviceTensors& tensors, const Pipelines& pipelines,
                                         const ReplaceResource& replacement = {});

// Records tasks of one model. It holds references; the objects must outlive it.
struct TaskRecorder {
  const CompiledModel& model;
  const DeviceTensors& tensors;
  const Pipelines& pipelines;
  const gpu::DescriptorSets& sets;
  const std::vector<size_t>& dispatch_of_task;
  const gpu::TimestampQueries* queries = nullptr;  // two queries for each task
  bool labels = false;                             // labels each task for debuggers
  const Poison* poison = nullptr;                  // fills memory before its first write
  IndirectCounts counts = {};                      // with a buffer: the workgroup counts of all dispatches

  // after_earlier_work: adds a barrier after earlier work of the same queue that used the same memory and was
  // not waited for.
  // part: the range of the task's workgroups, where it is divided.
  void record(gpu::CommandBuffer& commands, size_t task, bool after_earlier_work = false,
              const SubmitRange* part = nullptr) const;

 private:
  void record_barrier(gpu::CommandBuffer& commands, size_t task, bool after_earlier_work) const;
};

}  // namespace vellum

#include "exec/strided_port.hpp"

#include <array>
#include <utility>

#include "exec/binding_pipelines.hpp"
#include "vulkan/context.hpp"

namespace vellum {
namespace {

Pipelines strided_pipeline(const Executor& executor, const Dispatch& dispatch) {
  return {executor.context()->pipelines().get(two_buffers_key(executor.program(), dispatch))};
}

}  // namespace

StridedPort::StridedPort(const Executor& executor, const BoundStrides& bound)
    : root_(executor.program().root(bound.port->tensor)),
      is_output_(bound.is_output),
      buffer_(gpu::make_buffer(executor.context(), executor.program().tensors[root_].desc.byte_size(),
                               gpu::MemoryKind::device, gpu::MemoryCategory::in_out)),
      dispatch_(copy_strided_words(executor.context()->caps(), bound.words, bound.is_output)),
      pipeline_(strided_pipeline(executor, dispatch_)),
      sets_(executor.context(), pipeline_) {
  const uint64_t bytes = (bound.words.bytes + 3) / 4 * 4;
  std::array<gpu::BoundResource, 2> resources{
      gpu::BoundResource(bound.buffer, bound.offset + bytes, bound.offset, bytes),
      gpu::BoundResource(buffer_, executor.program().offset(bound.port->tensor))};
  if (is_output_) std::swap(resources[0], resources[1]);
  sets_.write(0, resources);
}

void StridedPort::record(gpu::CommandBuffer& commands) const {
  commands.bind(*pipeline_.front(), sets_[0]);
  commands.push_constants(*pipeline_.front(), dispatch_.push_constants.bytes());
  commands.dispatch(dispatch_.workgroup_count);
}

}  // namespace vellum

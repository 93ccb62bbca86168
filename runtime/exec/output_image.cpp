#include "exec/output_image.hpp"

#include <array>

#include "exec/binding_pipelines.hpp"
#include "vulkan/context.hpp"

namespace vellum {
namespace {

Pipelines make_pipeline(const Executor& executor, const Dispatch& dispatch) {
  return {executor.context()->pipelines().get(store_image_key(executor.program(), dispatch))};
}

}  // namespace

OutputImage::OutputImage(const Executor& executor, const Port& port, const ImagePixels& pixels,
                         const gpu::ApplicationImageDesc& image)
    : root_(executor.program().root(port.tensor)),
      buffer_(gpu::make_buffer(executor.context(), executor.program().tensors[root_].desc.byte_size(),
                               gpu::MemoryKind::device, gpu::MemoryCategory::in_out)),
      image_(executor.context(), image, VK_IMAGE_USAGE_STORAGE_BIT),
      dispatch_(store_image(executor.context()->caps(), pixels,
                            executor.program().tensors[root_].desc.element,
                            gpu::storage_qualifier(*executor.context(), image.format.format))),
      pipeline_(make_pipeline(executor, dispatch_)),
      sets_(executor.context(), pipeline_) {
  const uint64_t offset = executor.program().offset(port.tensor);
  const std::array<gpu::BoundResource, 2> resources{gpu::BoundResource(buffer_, offset), image_.resource()};
  sets_.write(0, resources);
}

void OutputImage::record(gpu::CommandBuffer& commands) const {
  commands.bind(*pipeline_.front(), sets_[0]);
  commands.push_constants(*pipeline_.front(), dispatch_.push_constants.bytes());
  commands.dispatch(dispatch_.workgroup_count);
}

}  // namespace vellum

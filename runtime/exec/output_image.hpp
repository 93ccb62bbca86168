// An output that is bound to an image of the application's: written to a buffer first, then converted.
#pragma once

#include <memory>
#include <vector>

#include "exec/executor.hpp"
#include "kernels/movement/store_image.hpp"
#include "vulkan/application_image.hpp"
#include "vulkan/buffer.hpp"

namespace vellum {

class OutputImage {
 public:
  // `port`: with a tensor of floats or bytes.
  OutputImage(const Executor& executor, const Port& port, const ImagePixels& pixels,
              const gpu::ApplicationImageDesc& image);

  TensorId root() const { return root_; }
  const gpu::Buffer& buffer() const { return buffer_; }  // of the root
  // After a barrier behind what wrote the buffer.
  void record(gpu::CommandBuffer& commands) const;

 private:
  TensorId root_;
  gpu::Buffer buffer_;
  gpu::ApplicationImage image_;
  Dispatch dispatch_;
  Pipelines pipeline_;  // one
  gpu::DescriptorSets sets_;
};

}  // namespace vellum

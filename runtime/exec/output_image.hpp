// An output that is bound to an image of the application. The network writes it to a buffer, which a dispatch
// then converts to the image.
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
  // `port`: an output of floats or bytes.
  OutputImage(const Executor& executor, const Port& port, const ImagePixels& pixels,
              const gpu::ApplicationImageDesc& image);

  TensorId root() const { return root_; }
  const gpu::Buffer& buffer() const { return buffer_; }  // holds the root
  // Records the conversion. A barrier after the last write to the buffer must precede it.
  void record(gpu::CommandBuffer& commands) const;

 private:
  TensorId root_;
  gpu::Buffer buffer_;
  gpu::ApplicationImage image_;
  Dispatch dispatch_;
  Pipelines pipeline_;  // a single pipeline
  gpu::DescriptorSets sets_;
};

}  // namespace vellum

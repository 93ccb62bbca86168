// An input or output that is bound to the application's buffer with strides. A dispatch copies it to or from
// a dense buffer.
#pragma once

#include <vector>

#include "exec/executor.hpp"
#include "kernels/movement/strided_words.hpp"
#include "vulkan/buffer.hpp"
#include "vulkan/commands.hpp"
#include "vulkan/descriptors.hpp"

namespace vellum {

struct BoundStrides {
  const Port* port = nullptr;
  bool is_output = false;
  StridedWords words;
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t offset = 0;
};

class StridedPort {
 public:
  StridedPort(const Executor& executor, const BoundStrides& bound);

  TensorId root() const { return root_; }
  const gpu::Buffer& buffer() const { return buffer_; }  // the dense buffer, which holds the root
  bool is_output() const { return is_output_; }
  // Records the copy with its barriers. An input is copied before the network reads it, an output after the
  // network has written it.
  void record(gpu::CommandBuffer& commands) const;

 private:
  TensorId root_;
  bool is_output_;
  gpu::Buffer buffer_;
  Dispatch dispatch_;
  Pipelines pipeline_;  // a single pipeline
  gpu::DescriptorSets sets_;
};

}  // namespace vellum

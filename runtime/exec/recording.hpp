// A network bound to buffers and images of the application's, to be recorded into the application's command
// buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "exec/executor.hpp"
#include "exec/output_image.hpp"
#include "exec/strided_port.hpp"
#include "vellum/frame.hpp"
#include "vulkan/application_image.hpp"
#include "vulkan/commands.hpp"

namespace vellum {

// The memory of an input or output: `bytes` of a buffer, from `offset` on.
struct BoundPort {
  TensorId root = kNoTensor;  // of the Port's tensor
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t offset = 0, bytes = 0;
};

// An image as the frame of an input.
struct BoundFrame {
  TensorId root = kNoTensor;
  FrameInput frame;
  gpu::ApplicationImageDesc image;
};

// An image as an output.
struct BoundPicture {
  const Port* port = nullptr;
  ImagePixels pixels;
  gpu::ApplicationImageDesc image;
};

struct BoundPorts {
  std::vector<BoundPort> buffers;
  std::vector<BoundStrides> strided;
  std::vector<BoundFrame> frames;
  std::vector<BoundPicture> pictures;
  std::vector<gpu::OwnedResource> owned;  // of all of them: those that others own before and afterwards
  bool rest_on_host = false;
};

// The frames that the port's bytes are; null for an input that is none. Of the executor's model.
const FrameInput* frame_input(const Executor& executor, const Port& port);

// How the buffer of a port must be made.
struct PortBuffer {
  uint64_t bytes = 0, alignment = 1;
  VkBufferUsageFlags usage = 0;
};
PortBuffer port_buffer(const Executor& executor, const Port& port);

// Throws Error(unsupported), naming the reason, for a network whose runs need the host.
void check_recordable(const Executor& executor);

// Shares everything but the descriptor sets with the executor, and outlives it.
class RecordedNetwork {
 public:
  // Ports that are not listed keep the executor's memory. Of a network that check_recordable() accepts.
  RecordedNetwork(Executor& executor, const BoundPorts& ports);

  // Whether it reads and writes the executor's inputs and outputs, but for those that `replaces()` names.
  bool is_of(const Executor& executor) const { return tensors_.shares_in_out_with(executor.tensors()); }
  bool replaces(TensorId root) const { return replaced_.contains(root); }
  // Whether inputs and outputs that are not bound are the session's: NetworkBindings::rest_on_host.
  bool rest_on_host() const { return rest_on_host_; }

  // Makes no Vulkan objects. The device waits for earlier work of the queue.
  void record(VkCommandBuffer commands) const;
  // Submits a command buffer of its own, which the first call makes. Thread-safe.
  void submit(const SubmitSemaphores& semaphores);
  void run(const SubmitSemaphores& semaphores);  // submits and waits

 private:
  // Throws Error(invalid_argument) for an input that is not bound and has no values.
  void check_inputs() const;
  const gpu::CommandBuffer& recorded_once();
  void record(gpu::CommandBuffer& commands) const;
  void record_strided(gpu::CommandBuffer& commands, bool outputs) const;

  std::shared_ptr<gpu::Context> context_;
  std::shared_ptr<const CompiledModel> model_;
  std::shared_ptr<WeightSource> weights_;
  DeviceTensors tensors_;
  std::set<TensorId> replaced_;
  bool rest_on_host_;
  std::shared_ptr<const InputFlags> has_input_;  // of the executor
  std::vector<StridedPort> strided_;             // one for each of BoundPorts
  std::vector<gpu::ApplicationImage> frames_;    // one for each of BoundPorts
  std::vector<OutputImage> pictures_;
  Pipelines pipelines_;
  std::vector<gpu::OwnedResource> owned_;
  std::vector<size_t> dispatch_of_task_;
  gpu::DescriptorSets sets_;
  std::once_flag recorded_;
  std::optional<gpu::CommandBuffer> commands_;  // of submit() and run()
};

}  // namespace vellum

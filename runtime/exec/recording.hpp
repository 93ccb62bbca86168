// A network that is bound to the application's buffers and images, and is recorded into the application's
// command buffers.
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

// The memory of an input or output: `bytes` bytes at `offset` of a buffer.
struct BoundPort {
  TensorId root = kNoTensor;  // root of the port's tensor
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t offset = 0, bytes = 0;
};

// An image that is bound as the frame of an input.
struct BoundFrame {
  TensorId root = kNoTensor;
  FrameInput frame;
  gpu::ApplicationImageDesc image;
};

// An image that is bound as an output.
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
  std::vector<gpu::OwnedResource> owned;  // bindings that another queue family owns before and after the run
  bool rest_on_host = false;
};

// Returns the frame format of an input that takes frames, or null for other inputs.
const FrameInput* frame_input(const Executor& executor, const Port& port);

// The size, alignment and usage that the application's buffer for a port must have.
struct PortBuffer {
  uint64_t bytes = 0, alignment = 1;
  VkBufferUsageFlags usage = 0;
};
PortBuffer port_buffer(const Executor& executor, const Port& port);

// Throws Error(unsupported), which states the reason, for a network whose runs need the host.
void check_recordable(const Executor& executor);

// A network bound to ports. It shares everything except the descriptor sets with the executor, and may
// outlive it.
class RecordedNetwork {
 public:
  // Requires a network that check_recordable() accepts. Ports that are not listed keep the executor's memory.
  RecordedNetwork(Executor& executor, const BoundPorts& ports);

  // Returns whether the inputs and outputs that are not bound are those of `executor`.
  bool is_of(const Executor& executor) const { return tensors_.shares_in_out_with(executor.tensors()); }
  // Returns whether this input or output is bound.
  bool replaces(TensorId root) const { return replaced_.contains(root); }
  // NetworkBindings::rest_on_host: unbound inputs and outputs are the session's.
  bool rest_on_host() const { return rest_on_host_; }

  // Creates no Vulkan objects. The recorded commands wait for earlier work of the queue.
  void record(VkCommandBuffer commands) const;
  // counts: the workgroup counts of all dispatches, if the device decides them.
  void record(gpu::CommandBuffer& commands, const IndirectCounts& counts = {}) const;
  // Throws Error(invalid_argument) for an input that is not bound and has no values. set: tensors of inputs
  // that other commands set.
  void check_inputs(std::span<const TensorId> set = {}) const;
  const std::shared_ptr<gpu::Context>& context() const { return context_; }
  const CompiledModel& model() const { return *model_; }
  const DeviceTensors& tensors() const { return tensors_; }
  // Submits the network's own command buffer, which the first call makes. Thread-safe.
  void submit(const SubmitSemaphores& semaphores);
  void run(const SubmitSemaphores& semaphores);  // submits and waits

 private:
  const gpu::CommandBuffer& recorded_once();
  void record_strided(gpu::CommandBuffer& commands, bool outputs) const;

  std::shared_ptr<gpu::Context> context_;
  std::shared_ptr<const CompiledModel> model_;
  std::shared_ptr<WeightSource> weights_;
  DeviceTensors tensors_;
  std::set<TensorId> replaced_;
  bool rest_on_host_;
  std::shared_ptr<const InputFlags> has_input_;  // shared with the executor
  std::vector<StridedPort> strided_;             // one for each of BoundPorts::strided
  std::vector<gpu::ApplicationImage> frames_;    // one for each of BoundPorts::frames
  std::vector<OutputImage> pictures_;
  Pipelines pipelines_;
  std::vector<gpu::OwnedResource> owned_;
  std::vector<size_t> dispatch_of_task_;
  gpu::DescriptorSets sets_;
  std::once_flag recorded_;
  std::optional<gpu::CommandBuffer> commands_;  // for submit() and run()
};

}  // namespace vellum

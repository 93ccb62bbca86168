#include "exec/recording.hpp"

#include <algorithm>

#include "exec/binding_pipelines.hpp"
#include "vellum/error.hpp"
#include "vulkan/context.hpp"

namespace vellum {
namespace {

FrameImage frame_image(const gpu::Context& context, gpu::ImageFormatId format) {
  switch (gpu::sampled_format(context, format)) {
    case gpu::SampledFormat::bytes:
      return FrameImage::bytes;
    case gpu::SampledFormat::planes:
      return FrameImage::planes;
    case gpu::SampledFormat::numbers:
      break;
  }
  return FrameImage::numbers;
}

// The pipeline of a dispatch that reads an image in place of the frame's bytes.
std::shared_ptr<const gpu::Pipeline> frame_pipeline(const Executor& executor, const Dispatch& dispatch,
                                                    const BoundFrame& bound) {
  const FrameImage image = frame_image(*executor.context(), bound.image.format);
  FrameInput frame = bound.frame;
  // The conversion of an external format puts U and V where they belong.
  if (bound.image.format.external) frame.format = FrameFormat::nv12;
  gpu::PipelineKey key = frame_image_key(executor.program(), dispatch, bound.root, frame, image);
  if (image == FrameImage::planes) key.planes = bound.image.format;
  return executor.context()->pipelines().get(key);
}

// Those of the executor, but for dispatches that read images.
Pipelines bound_pipelines(const Executor& executor, const BoundPorts& ports) {
  Pipelines pipelines = executor.pipelines();
  const Program& program = executor.program();
  size_t index = 0;
  for (const Task& task : program.tasks) {
    if (!task.dispatch) continue;
    for (const BoundFrame& bound : ports.frames)
      if (binds(program, *task.dispatch, bound.root))
        pipelines[index] = frame_pipeline(executor, *task.dispatch, bound);
    ++index;
  }
  return pipelines;
}

std::vector<gpu::ApplicationImage> frame_views(const Executor& executor, const BoundPorts& ports) {
  std::vector<gpu::ApplicationImage> views;
  for (const BoundFrame& bound : ports.frames)
    views.emplace_back(executor.context(), bound.image, VK_IMAGE_USAGE_SAMPLED_BIT);
  return views;
}

std::vector<OutputImage> picture_images(const Executor& executor, const BoundPorts& ports) {
  std::vector<OutputImage> images;
  for (const BoundPicture& bound : ports.pictures)
    images.emplace_back(executor, *bound.port, bound.pixels, bound.image);
  return images;
}

std::vector<StridedPort> strided_ports(const Executor& executor, const BoundPorts& ports) {
  std::vector<StridedPort> strided;
  for (const BoundStrides& bound : ports.strided) strided.emplace_back(executor, bound);
  return strided;
}

std::set<TensorId> replaced_roots(const Program& program, const BoundPorts& ports) {
  std::set<TensorId> roots;
  for (const BoundPort& bound : ports.buffers) roots.insert(bound.root);
  for (const BoundStrides& bound : ports.strided) roots.insert(program.root(bound.port->tensor));
  for (const BoundFrame& bound : ports.frames) roots.insert(bound.root);
  for (const BoundPicture& bound : ports.pictures) roots.insert(program.root(bound.port->tensor));
  return roots;
}

// The application's memory, which is bound in place of the executor's.
class Replacements {
 public:
  Replacements(const BoundPorts& ports, const std::vector<StridedPort>& strided,
               const std::vector<gpu::ApplicationImage>& frames, const std::vector<OutputImage>& pictures)
      : ports_(ports), strided_(strided), frames_(frames), pictures_(pictures) {}

  std::optional<gpu::BoundResource> operator()(TensorId root, uint64_t offset, uint64_t bytes) const {
    if (const auto port = std::ranges::find(ports_.buffers, root, &BoundPort::root);
        port != ports_.buffers.end())
      return gpu::BoundResource(port->buffer, port->offset + port->bytes, port->offset + offset, bytes);
    for (const StridedPort& strided : strided_)
      if (strided.root() == root) return gpu::BoundResource(strided.buffer(), offset, bytes);
    for (size_t i = 0; i < frames_.size(); ++i)
      if (ports_.frames[i].root == root) return frames_[i].resource();
    for (const OutputImage& picture : pictures_)
      if (picture.root() == root) return gpu::BoundResource(picture.buffer(), offset, bytes);
    return std::nullopt;
  }

 private:
  const BoundPorts& ports_;
  const std::vector<StridedPort>& strided_;
  const std::vector<gpu::ApplicationImage>& frames_;
  const std::vector<OutputImage>& pictures_;
};

}  // namespace

const FrameInput* frame_input(const Executor& executor, const Port& port) {
  return frame_input(executor.model().graph, port);
}

PortBuffer port_buffer(const Executor& executor, const Port& port) {
  const Program& program = executor.program();
  const DeviceCaps& caps = executor.context()->caps();
  const TensorId root = program.root(port.tensor);
  PortBuffer buffer{program.tensors[root].desc.byte_size(), caps.min_storage_buffer_offset_alignment,
                    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
  for (const Task& task : program.tasks) {
    if (!task.dispatch) continue;
    for (const Binding& binding : task.dispatch->bindings) {
      if (!binding.texel_buffer || program.root(binding.tensor) != root) continue;
      buffer.usage |= binding.sampled ? VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT
                                      : VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT;
      buffer.alignment = caps.tensor_offset_alignment();
    }
  }
  return buffer;
}

void check_recordable(const Executor& executor) {
  const auto refuse = [](const std::string& why) {
    throw Error(ErrorCode::unsupported,
                "the inference cannot be recorded: " + why + "; use run() or submit()");
  };
  if (executor.streams_weights()) refuse("its weights stream to the device (weights_budget)");
  for (const Task& task : executor.program().tasks)
    if (task.host)
      refuse("node '" + node_name(task) + "' (" + std::string(operator_type(task)) + ") runs on the host");
}

RecordedNetwork::RecordedNetwork(Executor& executor, const BoundPorts& ports)
    : context_(executor.context()),
      model_(executor.shared_model()),
      weights_(executor.weight_source()),
      tensors_(executor.complete_tensors()),
      replaced_(replaced_roots(executor.program(), ports)),
      rest_on_host_(ports.rest_on_host),
      has_input_(executor.input_flags()),
      strided_(strided_ports(executor, ports)),
      frames_(frame_views(executor, ports)),
      pictures_(picture_images(executor, ports)),
      pipelines_(bound_pipelines(executor, ports)),
      owned_(ports.owned),
      dispatch_of_task_(dispatches_of_tasks(executor.program())),
      sets_(make_descriptor_sets(context_, executor.program(), tensors_, pipelines_,
                                 Replacements(ports, strided_, frames_, pictures_))) {}

// Dense inputs are written after what read them before; the first task has a barrier of its own.
void RecordedNetwork::record_strided(gpu::CommandBuffer& commands, bool outputs) const {
  const auto is_wanted = [&](const StridedPort& port) { return port.is_output() == outputs; };
  if (!outputs && std::ranges::any_of(strided_, is_wanted))
    commands.barrier(gpu::kComputeWrite, gpu::kComputeReadWrite);
  for (const StridedPort& port : strided_)
    if (is_wanted(port)) port.record(commands);
}

void RecordedNetwork::record(gpu::CommandBuffer& commands, const IndirectCounts& counts) const {
  commands.acquire(owned_);
  record_strided(commands, false);
  const TaskRecorder tasks{
      *model_, tensors_, pipelines_, sets_, dispatch_of_task_, nullptr, context_->has_debug_labels(),
      nullptr, counts};
  for (size_t t = 0; t < model_->program.tasks.size(); ++t) tasks.record(commands, t, t == 0);
  if (!pictures_.empty() || std::ranges::any_of(strided_, &StridedPort::is_output))
    commands.barrier(gpu::kComputeWrite, gpu::kComputeReadWrite);
  record_strided(commands, true);
  for (const OutputImage& picture : pictures_) picture.record(commands);
  commands.release(owned_);
}

void RecordedNetwork::check_inputs(std::span<const TensorId> set) const {
  const Program& program = model_->program;
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const Port& port = program.inputs[i];
    if (port.constant || port.tensor == kNoTensor || port.is_state || (*has_input_)[i] ||
        replaces(program.root(port.tensor)) || std::ranges::find(set, port.tensor) != set.end())
      continue;
    throw Error(ErrorCode::invalid_argument, "input '" + port.name + "' was neither set nor bound");
  }
}

void RecordedNetwork::record(VkCommandBuffer commands) const {
  check_inputs();
  gpu::CommandBuffer recorded_to(context_, commands);
  record(recorded_to);
}

const gpu::CommandBuffer& RecordedNetwork::recorded_once() {
  std::call_once(recorded_, [&] {
    gpu::CommandBuffer& commands = commands_.emplace(context_);
    commands.begin_simultaneous_use();
    record(commands);
    commands.barrier(gpu::kComputeWrite, gpu::kHostRead);  // for run()
    commands.end();
  });
  return *commands_;
}

void RecordedNetwork::submit(const SubmitSemaphores& semaphores) {
  check_inputs();
  gpu::submit_without_fence(*context_, recorded_once(), {.application = semaphores});
}

void RecordedNetwork::run(const SubmitSemaphores& semaphores) {
  check_inputs();
  const gpu::CommandBuffer& commands = recorded_once();
  gpu::Fence fence(context_);
  gpu::submit(*context_, commands, fence, {.application = semaphores});
  fence.wait();
}

}  // namespace vellum

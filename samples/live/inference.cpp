#include "live/inference.hpp"

#include <cstring>
#include <utility>

namespace vellum::samples {
namespace {

using Clock = std::chrono::steady_clock;
using Stage = vk::PipelineStageFlagBits;
using Use = vk::AccessFlagBits;
using Layout = vk::ImageLayout;

vk::BufferUsageFlags usage(const BufferLayout& layout, vk::BufferUsageFlags more = {}) {
  return vk::BufferUsageFlags(layout.usage) | more;
}

}  // namespace

Inference::Inference(const Graphics& graphics, Effect effect, Session session, const FrameInput& frame)
    : graphics_(graphics),
      effect_(std::move(effect)),
      session_(std::move(session)),
      frame_bytes_(frame.bytes()) {
  for (int i = 0; i < 2; ++i) {
    slots_.push_back(make_slot(frame));
    record(slots_.back());
  }
}

// What the device still uses must not go.
Inference::~Inference() { graphics_.device().waitIdle(); }

Inference::Slot Inference::make_slot(const FrameInput& frame) {
  const BufferLayout input = session_.input_buffer(effect_.input),
                     picture = session_.output_buffer(effect_.picture);
  using Usage = vk::BufferUsageFlagBits;
  Slot slot{.upload = {graphics_, input.bytes, Usage::eTransferSrc, true},
            .frame = {graphics_, input.bytes, usage(input, Usage::eTransferDst), false},
            .picture = {graphics_, picture.bytes, usage(picture, Usage::eTransferSrc), false},
            .image = {graphics_, frame.width, frame.height},
            .outputs = {},
            .commands = graphics_.make_commands(),
            .done = {graphics_.device(), vk::FenceCreateInfo()},
            .times = {graphics_.device(), vk::QueryPoolCreateInfo({}, vk::QueryType::eTimestamp, 4)},
            .recording = {}};
  for (const TensorInfo& info : session_.outputs()) {
    if (info.name == effect_.picture) continue;
    const BufferLayout layout = session_.output_buffer(info.name);
    slot.outputs.push_back({info, {graphics_, layout.bytes, usage(layout), true}});
  }
  return slot;
}

// Nothing leaves the device but the outputs that are decoded.
void Inference::record(Slot& slot) {
  const BufferBinding input{effect_.input, *slot.frame.buffer, 0, slot.frame.bytes};
  std::vector<BufferBinding> outputs{{effect_.picture, *slot.picture.buffer, 0, slot.picture.bytes}};
  for (const Output& output : slot.outputs)
    outputs.push_back({output.info.name, *output.buffer.buffer, 0, output.buffer.bytes});

  const vk::raii::CommandBuffer& commands = slot.commands;
  const auto barrier = [&](vk::PipelineStageFlags from, vk::AccessFlags written, vk::PipelineStageFlags to,
                           vk::AccessFlags used) {
    commands.pipelineBarrier(from, to, {}, vk::MemoryBarrier(written, used), {}, {});
  };
  commands.begin(vk::CommandBufferBeginInfo());
  commands.resetQueryPool(*slot.times, 0, 4);
  commands.writeTimestamp(Stage::eTopOfPipe, *slot.times, 0);
  commands.copyBuffer(*slot.upload.buffer, *slot.frame.buffer, vk::BufferCopy(0, 0, slot.frame.bytes));
  barrier(Stage::eTransfer, Use::eTransferWrite, Stage::eComputeShader, Use::eShaderRead);
  commands.writeTimestamp(Stage::eBottomOfPipe, *slot.times, 1);

  slot.recording = session_.record(*commands, {&input, 1}, outputs);
  barrier(Stage::eComputeShader, Use::eShaderWrite, Stage::eTransfer | Stage::eHost,
          Use::eTransferRead | Use::eHostRead);
  commands.writeTimestamp(Stage::eBottomOfPipe, *slot.times, 2);

  // The window's earlier commands have read the image.
  const ImageUse written{Stage::eTransfer, Use::eTransferWrite, Layout::eTransferDstOptimal};
  transition(graphics_, *commands, *slot.image.image, {Stage::eTransfer, {}, Layout::eUndefined}, written);
  const vk::BufferImageCopy whole(0, 0, 0, {vk::ImageAspectFlagBits::eColor, 0, 0, 1}, {}, slot.image.extent);
  commands.copyBufferToImage(*slot.picture.buffer, *slot.image.image, Layout::eTransferDstOptimal, whole);
  transition(graphics_, *commands, *slot.image.image, written,
             {Stage::eTransfer, Use::eTransferRead, Layout::eTransferSrcOptimal});
  commands.writeTimestamp(Stage::eBottomOfPipe, *slot.times, 3);
  commands.end();
}

void Inference::begin() {
  graphics_.submit(vk::SubmitInfo({}, {}, *next().commands), *next().done);
  is_running_ = true;
}

bool Inference::finish(std::chrono::nanoseconds timeout) {
  if (!is_running_) return false;
  const auto nanoseconds = static_cast<uint64_t>(timeout.count());
  const vk::Result result = graphics_.device().waitForFences(*next().done, VK_TRUE, nanoseconds);
  if (result == vk::Result::eTimeout) return false;
  graphics_.device().resetFences(*next().done);
  is_running_ = false;
  has_shown_ = true;
  decode(next());
  next_ = 1 - next_;
  return true;
}

void Inference::decode(const Slot& slot) {
  const auto [result, times] = slot.times.getResults<uint64_t>(0, 4, 4 * sizeof(uint64_t), sizeof(uint64_t),
                                                               vk::QueryResultFlagBits::e64);
  if (result == vk::Result::eSuccess) {
    times_.upload = graphics_.milliseconds(times[0], times[1]);
    times_.network = graphics_.milliseconds(times[1], times[2]);
    times_.picture = graphics_.milliseconds(times[2], times[3]);
  }
  const Clock::time_point before = Clock::now();
  std::map<std::string, Tensor> tensors;
  for (const Output& output : slot.outputs) {
    Tensor tensor(output.info.dtype, output.info.shape);
    std::memcpy(tensor.mutable_data(), output.buffer.data, tensor.byte_size());
    tensors.emplace(output.info.name, std::move(tensor));
  }
  marks_ = effect_.decode(tensors);
  times_.decode = std::chrono::duration<double, std::milli>(Clock::now() - before).count();
}

}  // namespace vellum::samples

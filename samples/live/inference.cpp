#include "live/inference.hpp"

#include <cstring>
#include <utility>

#include "common/region.hpp"
#include "io/photo.hpp"

namespace vellum::samples {
namespace {

using Clock = std::chrono::steady_clock;
using Stage = vk::PipelineStageFlagBits;
using Use = vk::AccessFlagBits;
using Layout = vk::ImageLayout;

vk::BufferUsageFlags usage(const BufferLayout& layout, vk::BufferUsageFlags more = {}) {
  return vk::BufferUsageFlags(layout.usage) | more;
}

std::map<std::string, Tensor> tensors_of(const auto& outputs) {
  std::map<std::string, Tensor> tensors;
  for (const auto& output : outputs) {
    Tensor tensor(output.info.dtype, output.info.shape);
    std::memcpy(tensor.mutable_data(), output.buffer.data, tensor.byte_size());
    tensors.emplace(output.info.name, std::move(tensor));
  }
  return tensors;
}

}  // namespace

Inference::Inference(const Graphics& graphics, Effect effect, std::vector<Session> sessions,
                     const FrameInput& frame)
    : graphics_(graphics),
      effect_(std::move(effect)),
      sessions_(std::move(sessions)),
      frame_bytes_(frame.bytes()) {
  for (int i = 0; i < 2; ++i) {
    slots_.push_back(make_slot(frame));
    record(slots_.back());
  }
}

// The device may still be using the members.
Inference::~Inference() { graphics_.device().waitIdle(); }

std::deque<Inference::Output> Inference::make_outputs(const Session& session) const {
  std::deque<Output> outputs;
  for (const TensorInfo& info : session.outputs()) {
    if (info.name == effect_.picture) continue;
    const BufferLayout layout = session.output_buffer(info.name);
    outputs.push_back({info, {graphics_, layout.bytes, usage(layout), true}});
  }
  return outputs;
}

Inference::Slot Inference::make_slot(const FrameInput& frame) {
  const BufferLayout input = sessions_[0].input_buffer(effect_.input),
                     picture = sessions_[0].output_buffer(effect_.picture);
  using Usage = vk::BufferUsageFlagBits;
  Slot slot{.upload = {graphics_, input.bytes, Usage::eTransferSrc, true},
            .frame = {graphics_, input.bytes, usage(input, Usage::eTransferDst), false},
            .picture = {graphics_, picture.bytes, usage(picture, Usage::eTransferSrc), false},
            .image = {graphics_, frame.width, frame.height},
            .transform = {},
            .region = {},
            .outputs = {},
            .commands = graphics_.make_commands(),
            .done = {graphics_.device(), vk::FenceCreateInfo()},
            .times = {graphics_.device(), vk::QueryPoolCreateInfo({}, vk::QueryType::eTimestamp, 4)},
            .recordings = {}};
  slot.outputs[0] = make_outputs(sessions_[0]);
  if (effect_.follower) {
    const BufferLayout transform = sessions_[1].input_buffer(effect_.follower->input + ".transform");
    slot.transform.emplace(graphics_, transform.bytes, usage(transform), true);
    slot.outputs[1] = make_outputs(sessions_[1]);
  }
  return slot;
}

// Nothing leaves the device but the outputs that are decoded.
void Inference::record(Slot& slot) {
  const auto bind = [](std::string_view name, const AppBuffer& buffer) {
    return BufferBinding{name, *buffer.buffer, 0, buffer.bytes};
  };
  std::vector<BufferBinding> outputs[2];
  for (std::size_t i = 0; i < sessions_.size(); ++i)
    for (const Output& output : slot.outputs[i]) outputs[i].push_back(bind(output.info.name, output.buffer));
  outputs[0].push_back(bind(effect_.picture, slot.picture));

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

  const BufferBinding input = bind(effect_.input, slot.frame);
  slot.recordings.push_back(sessions_[0].record(*commands, {&input, 1}, outputs[0]));
  if (effect_.follower) {
    const std::string& name = effect_.follower->input;
    const std::string transform = name + ".transform";
    const std::array inputs{bind(name, slot.frame), bind(transform, *slot.transform)};
    slot.recordings.push_back(sessions_[1].record(*commands, inputs, outputs[1]));
  }
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
  Slot& slot = next();
  slot.region = region_;
  if (slot.transform) {
    // Without a region the follower sees what it may; nobody reads its outputs.
    const std::array<float, 6> values = slot.region
                                            ? region_transform(*slot.region, effect_.follower->size).values()
                                            : std::array<float, 6>{};
    std::memcpy(slot.transform->data, values.data(), sizeof(values));
  }
  graphics_.submit(vk::SubmitInfo({}, {}, *slot.commands), *slot.done);
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
  const std::map<std::string, Tensor> outputs = tensors_of(slot.outputs[0]);
  marks_ = effect_.decode(outputs);
  if (effect_.follower) {
    if (slot.region) marks_ = effect_.follower->decode(tensors_of(slot.outputs[1]), *slot.region);
    region_ = effect_.follower->find(outputs);
  }
  times_.decode = std::chrono::duration<double, std::milli>(Clock::now() - before).count();
}

}  // namespace vellum::samples

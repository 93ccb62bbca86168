// An application with a Vulkan device of its own runs a network in its command buffers, on Vellum's public
// API.
//
// The frames are a moving pattern that the application writes into its buffer; a renderer or a camera would
// do that on the device. Each of two frames in flight has buffers and a command buffer, recorded once.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>
#include <vulkan/vulkan_raii.hpp>

#include "common/sample.hpp"
#include "vellum/vellum.hpp"
#include "vellum/vulkan.hpp"

namespace vellum::samples {
namespace {

constexpr uint32_t kVulkan = VK_API_VERSION_1_3;

// What an engine has anyway, made with what Vellum would use of it.
class Engine {
 public:
  Engine() : instance_(make_instance()), physical_(std::move(vk::raii::PhysicalDevices(instance_).front())) {
    const VulkanPhysicalDevice physical = vulkan_physical_device();
    const DeviceRequirements wants = Device::requirements(physical);
    for (const DeviceUse& use : wants.uses())
      std::printf("Vellum would use %s (%s)\n", use.purpose.c_str(), use.required ? "required" : "optional");
    // An engine adds its own extensions and features here.
    const std::vector<const char*>& extensions = wants.extensions();
    void* const features = wants.enable_features(nullptr);

    constexpr float priority = 1;
    family_ = wants.compute_family();
    const vk::DeviceQueueCreateInfo queue({}, family_, 1, &priority);
    vk::DeviceCreateInfo info({}, queue, {}, extensions);
    device_ = vk::raii::Device(physical_, info.setPNext(features));
    queue_ = vk::raii::Queue(device_, family_, 0);
    pool_ = vk::raii::CommandPool(device_, {{}, family_});
    vellum_.emplace(Device::adopt({.physical = physical,
                                   .device = *device_,
                                   .compute = {*queue_, family_},
                                   .extensions = extensions,
                                   .features = features}));
  }

  const Device& vellum() const { return *vellum_; }
  const vk::raii::Device& device() const { return device_; }
  const vk::raii::PhysicalDevice& physical() const { return physical_; }
  const vk::raii::Queue& queue() const { return queue_; }

  vk::raii::CommandBuffer make_commands() const {
    const vk::CommandBufferAllocateInfo info(*pool_, vk::CommandBufferLevel::ePrimary, 1);
    return std::move(vk::raii::CommandBuffers(device_, info).front());
  }

 private:
  vk::raii::Instance make_instance() const {
    const vk::ApplicationInfo application("embed", 1, "engine", 1, kVulkan);
    return {context_, vk::InstanceCreateInfo({}, &application)};
  }
  VulkanPhysicalDevice vulkan_physical_device() const {
    return {context_.getDispatcher()->vkGetInstanceProcAddr, *instance_, kVulkan, *physical_};
  }

  // In this order: Vellum's device goes first, then the engine's.
  vk::raii::Context context_;
  vk::raii::Instance instance_;
  vk::raii::PhysicalDevice physical_;
  uint32_t family_ = 0;
  vk::raii::Device device_{nullptr};
  vk::raii::Queue queue_{nullptr};
  vk::raii::CommandPool pool_{nullptr};
  std::optional<Device> vellum_;
};

// A buffer that the host reaches, as short as can be; an engine's own would be on the device.
struct SharedBuffer {
  SharedBuffer(const Engine& engine, std::string tensor, const BufferLayout& layout)
      : name(std::move(tensor)),
        bytes(layout.bytes),
        buffer(engine.device(), {{}, bytes, vk::BufferUsageFlags(layout.usage)}) {
    using Flag = vk::MemoryPropertyFlagBits;
    const vk::MemoryRequirements needed = buffer.getMemoryRequirements();
    const auto memory_properties = engine.physical().getMemoryProperties();
    constexpr vk::MemoryPropertyFlags wanted = Flag::eHostVisible | Flag::eHostCoherent;
    uint32_t type = 0;
    while (!(needed.memoryTypeBits >> type & 1) ||
           (memory_properties.memoryTypes[type].propertyFlags & wanted) != wanted)
      ++type;
    memory = vk::raii::DeviceMemory(engine.device(), {needed.size, type});
    buffer.bindMemory(*memory, 0);
    data = static_cast<std::byte*>(memory.mapMemory(0, VK_WHOLE_SIZE));
  }

  BufferBinding binding() const { return {name, *buffer, 0, bytes}; }

  std::string name;
  VkDeviceSize bytes;
  vk::raii::Buffer buffer;
  vk::raii::DeviceMemory memory{nullptr};
  std::byte* data = nullptr;
};

// One of the frames in flight.
struct Frame {
  Frame(const Engine& engine, Session& session)
      : input(engine, session.inputs()[0].name, session.input_buffer(session.inputs()[0].name)),
        commands(engine.make_commands()),
        done(engine.device(), vk::FenceCreateInfo(vk::FenceCreateFlagBits::eSignaled)) {
    for (const TensorInfo& info : session.outputs())
      outputs.emplace_back(engine, info.name, session.output_buffer(info.name));
    std::vector<BufferBinding> bound;
    for (const SharedBuffer& output : outputs) bound.push_back(output.binding());
    const BufferBinding bound_input = input.binding();

    commands.begin(vk::CommandBufferBeginInfo());
    recording = session.record(*commands, {&bound_input, 1}, bound);
    commands.pipelineBarrier(
        vk::PipelineStageFlagBits::eComputeShader, vk::PipelineStageFlagBits::eHost, {},
        vk::MemoryBarrier(vk::AccessFlagBits::eShaderWrite, vk::AccessFlagBits::eHostRead), {}, {});
    commands.end();
  }

  SharedBuffer input;
  std::vector<SharedBuffer> outputs;
  vk::raii::CommandBuffer commands;
  vk::raii::Fence done;
  Recording recording;
};

Tensor pattern(const Shape& shape, uint32_t time) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 31 + time * 977) % 255) / 255.0f;
  return Tensor::f32(shape, values);
}

// Whether the frame's buffers hold the very bits of run().
bool has_bits_of_run(Session& session, const Frame& frame, const Tensor& input) {
  const auto want = session.run({{session.inputs()[0].name, input}});
  return std::ranges::all_of(frame.outputs, [&](const SharedBuffer& output) {
    const Tensor& tensor = want.at(output.name);
    return std::memcmp(tensor.data(), output.data, tensor.byte_size()) == 0;
  });
}

void run_frames(const std::string& file, uint32_t count) {
  const Engine engine;
  std::printf("the engine's device: %s\n", engine.vellum().info().name.c_str());
  Session session(engine.vellum(), load_model(file));
  if (session.inputs().size() != 1 || session.inputs()[0].dtype != DType::f32)
    throw Error(ErrorCode::unsupported, file + ": the sample wants a model with one input of float32");
  const Shape shape = session.inputs()[0].shape;
  std::array<Frame, 2> frames{Frame(engine, session), Frame(engine, session)};

  const auto wait = [&](const Frame& frame) {
    if (engine.device().waitForFences(*frame.done, VK_TRUE, UINT64_MAX) != vk::Result::eSuccess)
      throw Error(ErrorCode::device_lost, "the device does not finish a frame");
  };
  const auto start = std::chrono::steady_clock::now();
  for (uint32_t i = 0; i < count; ++i) {
    const Frame& frame = frames[i % frames.size()];
    wait(frame);
    engine.device().resetFences(*frame.done);
    const Tensor picture = pattern(shape, i);
    std::memcpy(frame.input.data, picture.data(), picture.byte_size());
    engine.queue().submit(vk::SubmitInfo({}, {}, *frame.commands), *frame.done);
  }
  for (const Frame& frame : frames) wait(frame);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  std::printf("%u frames, %.2f ms each\n", count, taken.count() / count);

  const uint32_t last = count - 1;
  const bool same = has_bits_of_run(session, frames[last % frames.size()], pattern(shape, last));
  std::printf("the last frame has %s bits of Session::run()\n", same ? "the" : "NOT the");
  if (!same) throw Error(ErrorCode::internal, "recorded and run commands differ");
}

}  // namespace
}  // namespace vellum::samples

int main(int argc, char** argv) {
  CLI::App app("Runs a network on the application's own Vulkan device, in its command buffers", "embed");
  std::string model;
  uint32_t frames = 300;
  app.add_option("model", model, "an ONNX or TFLite model with one input of float32")->required();
  app.add_option("--frames", frames, "how many frames")->capture_default_str()->check(CLI::Range(1, 1000000));
  return vellum::samples::run_sample(app, argc, argv, [&] { vellum::samples::run_frames(model, frames); });
}

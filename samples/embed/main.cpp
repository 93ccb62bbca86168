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
#include <string>
#include <vector>

#include "common/sample.hpp"
#include "embed/engine.hpp"
#include "embed/images.hpp"

namespace vellum::samples {
namespace {

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
  bool images = false;
  app.add_option("model", model, "an ONNX or TFLite model with one input of float32")->required();
  app.add_flag("--images", images,
               "read rendered images, and write images that show the first output, a mask, over them");
  app.add_option("--frames", frames, "how many frames")->capture_default_str()->check(CLI::Range(1, 1000000));
  return vellum::samples::run_sample(app, argc, argv, [&] {
    if (images)
      vellum::samples::run_images(model, frames);
    else
      vellum::samples::run_frames(model, frames);
  });
}

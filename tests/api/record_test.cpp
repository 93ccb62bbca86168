// Inferences in the application's command buffers, with the application's buffers as inputs and outputs.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <optional>

#include "record_fixture.hpp"
#include "small_model.hpp"
#include "support/errors.hpp"
#include "support/fetched_model.hpp"
#include "support/tensors.hpp"
#include "vellum/frame.hpp"

namespace vellum::test {
namespace {

using namespace recording;

TEST_F(Record, ManyFramesHaveTheBitsOfRunAndCostNoCallOfVellums) {
  Session session(device, load(small_model()));
  std::vector<Tensor> inputs, want;
  for (uint32_t i = 0; i < 5; ++i) {
    inputs.push_back(input(10 + i));
    want.push_back(session.run({{"x", inputs[i]}}).at("y"));
  }
  const AppBuffer x = buffer_for(session.input_buffer("x")), y = buffer_for(session.output_buffer("y"));
  const vk::raii::CommandBuffer commands = app.make_commands();
  const BufferBinding in = binding("x", x), out = binding("y", y);
  const uint32_t maps = vulkan.maps(), submits = vulkan.submits(), waits = vulkan.waits();
  const Recording recording = record_one(session, commands, in, out);
  const uint32_t made = vulkan.objects_made();
  for (size_t frame = 0; frame < 300; ++frame) {
    const size_t i = frame % inputs.size();
    write(x, inputs[i]);
    app.submit_and_wait(commands);
    ASSERT_TRUE(same_bits(read(y, session.outputs()[0]), want[i])) << "frame " << frame;
  }
  EXPECT_EQ(vulkan.maps(), maps);
  EXPECT_EQ(vulkan.submits(), submits);
  EXPECT_EQ(vulkan.waits(), waits);
  EXPECT_EQ(vulkan.objects_made(), made);
  EXPECT_EQ(vulkan.instances_made() + vulkan.devices_made(), 0u);
}

// Nothing but Vellum's first barrier keeps the frames' intermediate tensors apart.
TEST_F(Record, FramesMayBePendingTogetherWithBuffersOfTheirOwn) {
  Session session(device, load(small_model()));
  constexpr size_t kFrames = 4;
  std::vector<AppBuffer> x, y;
  std::vector<vk::raii::CommandBuffer> commands;
  std::vector<Recording> recordings;
  std::vector<Tensor> want;
  for (uint32_t i = 0; i < kFrames; ++i) {
    want.push_back(session.run({{"x", input(i)}}).at("y"));
    x.push_back(buffer_for(session.input_buffer("x")));
    y.push_back(buffer_for(session.output_buffer("y")));
    write(x[i], input(i));
    const BufferBinding in = binding("x", x[i]), out = binding("y", y[i]);
    commands.push_back(app.make_commands());
    recordings.push_back(record_one(session, commands[i], in, out));
  }
  for (size_t i = 0; i + 1 < kFrames; ++i) app.submit(commands[i]);
  app.submit_and_wait(commands.back());
  for (size_t i = 0; i < kFrames; ++i) EXPECT_TRUE(same_bits(read(y[i], session.outputs()[0]), want[i])) << i;

  const vk::raii::CommandBuffer together = app.make_commands();
  together.begin(vk::CommandBufferBeginInfo());
  for (size_t i = 0; i < kFrames; ++i) {
    std::memset(y[i].data, 0, y[i].bytes);
    recordings[i].record(*together);
  }
  barrier_to_host(together);
  together.end();
  app.submit_and_wait(together);
  for (size_t i = 0; i < kFrames; ++i) EXPECT_TRUE(same_bits(read(y[i], session.outputs()[0]), want[i])) << i;
}

// Recordings keep the memory that they were made with; those of one pool wait for one another.
TEST_F(Record, NetworksOfAPoolFollowOneAnother) {
  const MemoryPool pool(device);
  const SessionOptions options{.storage = StorageChoice::buffer, .memory_pool = pool};
  Session first(device, load(small_model()), options), second(device, load(small_model()), options);
  const Tensor want = Session(device, load(small_model())).run({{"x", input(3)}}).at("y");
  const AppBuffer x = buffer_for(first.input_buffer("x")), y = buffer_for(first.output_buffer("y")),
                  z = buffer_for(second.output_buffer("y"));
  write(x, input(3));
  const BufferBinding in = binding("x", x), out = binding("y", y), other_out = binding("y", z);
  const vk::raii::CommandBuffer commands = app.make_commands();
  commands.begin(vk::CommandBufferBeginInfo());
  const Recording one = first.record(*commands, {&in, 1}, {&out, 1});
  second.trim();
  const Recording two = second.record(*commands, {&in, 1}, {&other_out, 1});
  barrier_to_host(commands);
  commands.end();
  for (int i = 0; i < 2; ++i) {
    std::memset(y.data, 0, y.bytes);
    std::memset(z.data, 0, z.bytes);
    app.submit_and_wait(commands);
    EXPECT_TRUE(same_bits(read(y, first.outputs()[0]), want));
    EXPECT_TRUE(same_bits(read(z, second.outputs()[0]), want));
    first.trim(TrimLevel::weights);
    EXPECT_TRUE(same_bits(second.run({{"x", input(3)}}).at("y"), want));
  }
}

// The upload is the frame's bytes, and a tracker's transform moves without another recording.
TEST_F(Record, FramesAreReadInBytesThroughATransformOfTheirOwn) {
  const FrameInput camera{.format = FrameFormat::nv12, .width = 64, .height = 36};
  Session session(device, with_frames(load(small_model()), "x", camera));
  const BufferLayout layout = session.input_buffer("x");
  EXPECT_EQ(layout.element, DType::u8);
  EXPECT_EQ(layout.bytes, 64u * 36 * 3 / 2);
  Tensor frame(DType::u8, {static_cast<int64_t>(camera.bytes())});
  for (size_t i = 0; i < frame.byte_size(); ++i) frame.mutable_as<uint8_t>()[i] = static_cast<uint8_t>(i * i);
  std::vector<Tensor> transforms, want;
  for (const double angle : {0.0, 0.3, 1.7, -2.5}) {
    transforms.push_back(FrameTransform::rotated({30, 20}, {25, 19}, angle, {11, 9}).tensor());
    want.push_back(session.run({{"x", frame}, {"x.transform", transforms.back()}}).at("y"));
  }
  const AppBuffer x = buffer_for(layout), part = buffer_for(session.input_buffer("x.transform")),
                  y = buffer_for(session.output_buffer("y"));
  write(x, frame);
  const std::array in{binding("x", x), binding("x.transform", part)};
  const BufferBinding out = binding("y", y);
  const vk::raii::CommandBuffer commands = app.make_commands();
  commands.begin(vk::CommandBufferBeginInfo());
  const Recording recording = session.record(*commands, in, {&out, 1});
  barrier_to_host(commands);
  commands.end();
  for (size_t i = 0; i < transforms.size(); ++i) {
    write(part, transforms[i]);
    app.submit_and_wait(commands);
    EXPECT_TRUE(same_bits(read(y, session.outputs()[0]), want[i])) << i;
  }
}

// A session's own memory for a frame holds its bytes once, and nothing in floats.
TEST_F(Record, AFrameTakesItsBytesOfDeviceMemory) {
  FrameInput camera{.format = FrameFormat::nv12, .width = 1920, .height = 1080};
  camera.transform = FrameTransform::letterbox({1920, 1080}, {11, 9});
  const Model model = with_frames(load(small_model()), "x", camera);
  vulkan.reset_peak();
  const uint64_t before = vulkan.allocated_bytes();
  Session session(device, model);
  session.run({{"x", Tensor(DType::u8, {static_cast<int64_t>(camera.bytes())})}});
  EXPECT_LE(vulkan.peak_bytes() - before, camera.bytes() + (256u << 10));
}

TEST_F(Record, EveryStorageMemoryModeAndPrecisionHasTheBitsOfRun) {
  const Model model = load(small_model());
  for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::image3d, StorageChoice::buffer})
    for (const MemoryMode memory : {MemoryMode::shared_objects, MemoryMode::offsets, MemoryMode::naive})
      for (const Precision precision : {Precision::fp32, Precision::fp16}) {
        Session session(device, model, {.precision = precision, .storage = storage, .memory = memory});
        const Tensor want = session.run({{"x", input(1)}}).at("y");
        const BufferLayout layout = session.input_buffer("x");
        EXPECT_EQ(layout.element, DType::f32);
        EXPECT_EQ(layout.bytes, 300u * 4) << "297 elements, padded to four";
        const uint64_t offset = 3 * layout.alignment, behind = 2 * session.output_buffer("y").alignment;
        const AppBuffer x = buffer_for(layout, offset), y = buffer_for(session.output_buffer("y"), behind);
        write(x, input(1), offset);
        const BufferBinding in = binding("x", x, offset), out = binding("y", y, behind);
        const vk::raii::CommandBuffer commands = app.make_commands();
        const Recording recording = record_one(session, commands, in, out);
        app.submit_and_wait(commands);
        EXPECT_TRUE(same_bits(read(y, session.outputs()[0], behind), want));
        EXPECT_TRUE(std::all_of(y.data, y.data + behind, [](std::byte b) { return b == std::byte{0xff}; }));
      }
}

// The application's copies on both sides, in one command buffer, and barriers as the header says.
TEST_F(Record, AWholeNetworkBetweenTheApplicationsCopies) {
  const FetchedModel& model = fetched_model("blazeface_front");
  Session session(device, Model::load(model.model()));
  const TensorInfo in_info = session.inputs()[0];
  const std::map<std::string, Tensor> want = session.run({{in_info.name, model.input()}});
  const AppBuffer upload = buffer_for(session.input_buffer(in_info.name)),
                  x = buffer_for(session.input_buffer(in_info.name));
  write(upload, model.input());
  std::vector<AppBuffer> outputs, downloads;
  std::vector<BufferBinding> out;
  for (const TensorInfo& info : session.outputs()) {
    outputs.push_back(buffer_for(session.output_buffer(info.name)));
    downloads.push_back(buffer_for(session.output_buffer(info.name)));
  }
  for (size_t i = 0; i < outputs.size(); ++i) out.push_back(binding(session.outputs()[i].name, outputs[i]));
  const BufferBinding in = binding(in_info.name, x);
  using Stage = vk::PipelineStageFlagBits;
  using Access = vk::AccessFlagBits;
  const vk::raii::CommandBuffer commands = app.make_commands();
  commands.begin(vk::CommandBufferBeginInfo());
  commands.copyBuffer(*upload.buffer, *x.buffer, vk::BufferCopy(0, 0, x.bytes));
  barrier(commands, Stage::eTransfer, Access::eTransferWrite, Stage::eComputeShader, Access::eShaderRead);
  const Recording recording = session.record(*commands, {&in, 1}, out);
  barrier(commands, Stage::eComputeShader, Access::eShaderWrite, Stage::eTransfer, Access::eTransferRead);
  for (size_t i = 0; i < outputs.size(); ++i)
    commands.copyBuffer(*outputs[i].buffer, *downloads[i].buffer, vk::BufferCopy(0, 0, outputs[i].bytes));
  barrier(commands, Stage::eTransfer, Access::eTransferWrite, Stage::eHost, Access::eHostRead);
  commands.end();
  for (int i = 0; i < 2; ++i) {
    app.submit_and_wait(commands);
    for (size_t o = 0; o < outputs.size(); ++o)
      EXPECT_TRUE(same_bits(read(downloads[o], session.outputs()[o]), want.at(session.outputs()[o].name)));
  }
}

// The output of one network is the input of the next.
TEST_F(Record, TwoSessionsInOneCommandBuffer) {
  OnnxModel second;
  second.input("y", {1, 2, 4, 5}).node("Relu", {"y"}, {"z"}, {}, "relu").output("z");
  Session a(device, load(small_model())), b(device, load(second));
  const Tensor want = b.run({{"y", a.run({{"x", input(1)}}).at("y")}}).at("z");
  BufferLayout shared = a.output_buffer("y");
  shared.usage |= b.input_buffer("y").usage;
  const AppBuffer x = buffer_for(a.input_buffer("x")), y = buffer_for(shared),
                  z = buffer_for(b.output_buffer("z"));
  ASSERT_EQ(shared.bytes, b.input_buffer("y").bytes);
  write(x, input(1));
  const BufferBinding in = binding("x", x), between = binding("y", y), out = binding("z", z);
  const vk::raii::CommandBuffer commands = app.make_commands();
  commands.begin(vk::CommandBufferBeginInfo());
  const Recording first = a.record(*commands, {&in, 1}, {&between, 1});
  // Vellum's first barrier orders compute shaders after compute shaders; see the header.
  const Recording next = b.record(*commands, {&between, 1}, {&out, 1});
  barrier_to_host(commands);
  commands.end();
  app.submit_and_wait(commands);
  EXPECT_TRUE(same_bits(read(z, b.outputs()[0]), want));
}

TEST_F(Record, OutlivesItsSessionAndIsRecordedAgainWithoutNewObjects) {
  std::optional<Session> session(std::in_place, device, load(small_model()));
  const Tensor want = session->run({{"x", input(1)}}).at("y");
  const TensorInfo info = session->outputs()[0];
  const AppBuffer x = buffer_for(session->input_buffer("x")), y = buffer_for(session->output_buffer("y"));
  write(x, input(1));
  const BufferBinding in = binding("x", x), out = binding("y", y);
  const vk::raii::CommandBuffer commands = app.make_commands();
  commands.begin(vk::CommandBufferBeginInfo());
  const Recording recording = session->record(*commands, {&in, 1}, {&out, 1});
  commands.end();
  session.reset();
  const uint32_t made = vulkan.objects_made();
  for (int i = 0; i < 3; ++i) {
    commands.reset();
    commands.begin(vk::CommandBufferBeginInfo(vk::CommandBufferUsageFlagBits::eOneTimeSubmit));
    recording.record(*commands);
    barrier_to_host(commands);
    commands.end();
    std::memset(y.data, 0, y.bytes);
    app.submit_and_wait(commands);
    EXPECT_TRUE(same_bits(read(y, info), want));
  }
  EXPECT_EQ(vulkan.objects_made(), made);
}

TEST_F(Record, IntegersAre32Bits) {
  OnnxModel model;
  model.input("x", {1, 6}, DType::i64).node("Add", {"x", "x"}, {"y"}, {}, "add").output("y");
  Session session(device, load(model));
  EXPECT_EQ(session.input_buffer("x").element, DType::i32);
  const AppBuffer x = buffer_for(session.input_buffer("x")), y = buffer_for(session.output_buffer("y"));
  const std::array<int32_t, 6> numbers{1, -2, 3, 1 << 20, 0, -7};
  std::memcpy(x.data, numbers.data(), sizeof(numbers));
  const BufferBinding in = binding("x", x), out = binding("y", y);
  const vk::raii::CommandBuffer commands = app.make_commands();
  const Recording recording = record_one(session, commands, in, out);
  app.submit_and_wait(commands);
  for (size_t i = 0; i < numbers.size(); ++i) {
    int32_t sum = 0;
    std::memcpy(&sum, y.data + i * sizeof(sum), sizeof(sum));
    EXPECT_EQ(sum, 2 * numbers[i]);
  }
}

TEST_F(Record, ValuesThatDecideShapesAreThoseThatTheSessionIsPreparedFor) {
  OnnxModel source;
  source.input("x", {2, 4}).input("n", {2}, DType::i64).node("Tile", {"x", "n"}, {"y"}).output("y");
  const std::vector<int64_t> repeats{2, 3};
  Session session(device, load(source), {.input_values = {{"n", Tensor::i64({2}, repeats)}}});
  const Tensor data = random_tensor({2, 4}, 5);
  const Tensor want = session.run({{"x", data}}).at("y");
  const AppBuffer x = buffer_for(session.input_buffer("x")), y = buffer_for(session.output_buffer("y"));
  const BufferBinding in = binding("x", x), out = binding("y", y), values = binding("n", x);
  write(x, data);
  const vk::raii::CommandBuffer commands = app.make_commands();
  const Recording recording = record_one(session, commands, in, out);
  app.submit_and_wait(commands);
  EXPECT_TRUE(close(read(y, session.outputs().front()), want));
  EXPECT_VELLUM_ERROR(session.bind({{in, values}}, {{out}}), ErrorCode::unsupported, "'n'", "decides shapes");
}

}  // namespace
}  // namespace vellum::test

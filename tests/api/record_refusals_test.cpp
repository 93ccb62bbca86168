// The errors for inferences that cannot be recorded in the application's command buffers.
#include <gtest/gtest.h>

#include <cstring>

#include "detection_model.hpp"
#include "record_fixture.hpp"
#include "small_model.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

using namespace recording;

TEST_F(Record, RefusesWhatCannotBeBound) {
  Session session(device, load(small_model()));
  const AppBuffer x = buffer_for(session.input_buffer("x"), 4096), y = buffer_for(session.output_buffer("y"));
  const vk::raii::CommandBuffer commands = app.make_commands();
  commands.begin(vk::CommandBufferBeginInfo());
  const BufferBinding in = binding("x", x), out = binding("y", y);
  const auto refused = [&](ErrorCode code, const char* text, std::vector<BufferBinding> inputs,
                           std::vector<BufferBinding> outputs) {
    EXPECT_VELLUM_ERROR(session.record(*commands, inputs, outputs), code, text);
  };
  const ErrorCode invalid = ErrorCode::invalid_argument;
  refused(ErrorCode::not_found, "no input 'w'", {in, binding("w", x)}, {out});
  refused(ErrorCode::not_found, "no output 'x'", {in}, {in});
  refused(invalid, "input 'x' is not bound", {}, {out});
  refused(invalid, "input 'x' is bound twice", {in, in}, {out});
  refused(invalid, "input 'x': the buffer is null", {{"x", nullptr, 0, 4096}}, {out});
  refused(invalid, "the offset 2 is not a multiple of", {{"x", *x.buffer, 2, 4096}}, {out});
  refused(invalid, "it takes 1200 bytes with its padding, but 1188 were given", {{"x", *x.buffer, 0, 1188}},
          {out});
  refused(invalid, "overlaps", {in}, {{"y", *x.buffer, 0, 4096}});
  constexpr VkDeviceSize last = ~VkDeviceSize{0} & ~VkDeviceSize{4095};
  refused(invalid, "input 'x': 4096 bytes from the offset 18446744073709547520 on end beyond",
          {{"x", *x.buffer, last, 4096}}, {out});
  refused(invalid, "output 'y': 1048576 bytes from the offset 0 on end beyond the buffer", {in},
          {{"y", *y.buffer, 0, 1 << 20}});
  refused(invalid, "input 'x': 1200 bytes from the offset 8192 on end beyond",
          {{"x", *x.buffer, 8192, VK_WHOLE_SIZE}}, {out});
  const size_t families = app.physical_handle().getQueueFamilyProperties().size();
  for (const uint32_t owner : {uint32_t{77}, static_cast<uint32_t>(families)}) {
    BufferBinding owned = in;
    owned.owner = owner;
    refused(invalid, "input 'x': its owner is the queue family", {owned}, {out});
  }
  EXPECT_VELLUM_ERROR(session.record(nullptr, {&in, 1}, {&out, 1}), invalid, "the command buffer is null");
  EXPECT_VELLUM_ERROR(Recording().record(*commands), invalid, "nothing is bound");
  commands.end();
}

TEST_F(Record, TheRestOnTheHostHasValuesBeforeItRuns) {
  Session session(device, load(small_model()));
  const AppBuffer y = buffer_for(session.output_buffer("y")), x = buffer_for(session.input_buffer("x"));
  const BufferBinding out = binding("y", y), in = binding("x", x);
  const vk::raii::CommandBuffer commands = app.make_commands();
  const Recording recording = session.bind({.outputs = {&out, 1}, .rest_on_host = true});
  const auto refused = [&] {
    EXPECT_VELLUM_ERROR(recording.run(), ErrorCode::invalid_argument, "'x' was neither set nor bound");
    EXPECT_VELLUM_ERROR(recording.submit({}), ErrorCode::invalid_argument, "'x' was neither set nor bound");
    commands.begin(vk::CommandBufferBeginInfo());
    EXPECT_VELLUM_ERROR(recording.record(*commands), ErrorCode::invalid_argument,
                        "'x' was neither set nor bound");
    EXPECT_VELLUM_ERROR(session.record(*commands, {.outputs = {&out, 1}, .rest_on_host = true}),
                        ErrorCode::invalid_argument, "'x' was neither set nor bound");
    commands.end();
    EXPECT_VELLUM_ERROR(session.run(recording), ErrorCode::invalid_argument, "'x' was neither set nor bound");
  };
  refused();
  const Tensor want = Session(device, load(small_model())).run({{"x", input(3)}}).at("y");
  session.set_input("x", input(3));
  recording.run();
  EXPECT_TRUE(same_bits(read(y, session.outputs()[0]), want));
  std::memset(y.data, 0, y.bytes);
  commands.begin(vk::CommandBufferBeginInfo());
  recording.record(*commands);
  barrier_to_host(commands);
  commands.end();
  app.submit_and_wait(commands);
  EXPECT_TRUE(same_bits(read(y, session.outputs()[0]), want));

  const Recording whole = session.bind({&in, 1}, {&out, 1});
  EXPECT_VELLUM_ERROR(session.run(whole), ErrorCode::invalid_argument,
                      "without NetworkBindings::rest_on_host");
}

TEST_F(Record, RefusesSessionsWhoseRunsNeedTheHost) {
  const vk::raii::CommandBuffer commands = app.make_commands();
  // Without a log, for it warns of what runs on the host.
  Session detection(Device::adopt(app.device()), load(detection_model()));
  EXPECT_VELLUM_ERROR(detection.record(*commands, {}, {}), ErrorCode::unsupported, "NonMaxSuppression",
                      "runs on the host");
  Session streamed(device, load(small_model()), {.weights_budget = 1 << 20});
  EXPECT_VELLUM_ERROR(streamed.record(*commands, {}, {}), ErrorCode::unsupported, "weights_budget");
  Session checked(device, load(small_model()), {.check_finite = true});
  EXPECT_VELLUM_ERROR(checked.record(*commands, {}, {}), ErrorCode::unsupported, "check_finite");
  Session open(device, load(small_model({1, 3, kUnknownDim, kUnknownDim})));
  EXPECT_VELLUM_ERROR(open.record(*commands, {}, {}), ErrorCode::invalid_argument, "leaves shapes");
  EXPECT_VELLUM_ERROR(open.input_buffer("x"), ErrorCode::invalid_argument, "leaves shapes");
  Session own(Device::open(device_options()), load(small_model()));
  EXPECT_VELLUM_ERROR(own.record(*commands, {}, {}), ErrorCode::invalid_argument, "Device::adopt()");
}

}  // namespace
}  // namespace vellum::test

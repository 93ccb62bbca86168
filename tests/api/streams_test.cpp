// Networks with variables whose state stays on the device: two buffers of the application's, bound in turns.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <vector>

#include "public_interface.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test {
namespace {

// y = x + the x of three runs before. The variable "last" has those three, the oldest first, and begins with
// (1, 2), (3, 4), (5, 6). Each element of the new value is read from another place of the old one.
std::string delay_model() {
  TfliteModel m;
  constexpr int32_t kConcatenation = 2, kSlice = 65;
  const auto x = m.tensor("x", {1, 2}), y = m.tensor("y", {1, 2}), before = m.tensor("before", {3, 2}),
             after = m.tensor("after", {3, 2}), oldest = m.tensor("oldest", {1, 2}),
             newer = m.tensor("newer", {2, 2});
  call_once(m, 1);
  const int32_t last = variable(m, "last");
  read_variable(m, last, before);
  m.op(kSlice, {before, m.ints("first", {0, 0}), m.ints("one", {1, 2})}, {oldest});
  m.op(kSlice, {before, m.ints("second", {1, 0}), m.ints("two", {2, 2})}, {newer});
  m.op(kConcatenation, {newer, x}, {after}, tfl::BuiltinOptions::ConcatenationOptions,
       tfl::CreateConcatenationOptions(m.builder(), 0).Union());
  add(m, x, oldest, y);
  assign_variable(m, last, after);
  m.end_graph({x}, {y});
  assign_variable(m, variable(m, "last"), m.floats("begin", {3, 2}, {1, 2, 3, 4, 5, 6}));
  return m.finish({}, {});
}

class Streams : public testing::Test {
 protected:
  // The buffers of two runs that follow one another.
  using Pair = std::array<AppBuffer, 2>;

  Streams() : app(vulkan.get_instance_proc_addr()), device(adopt()) {}

  Device adopt() { return Device::adopt(app.device(), adopt_options()); }
  Pair pair_for(const BufferLayout& one, const BufferLayout& other) {
    const auto usage = vk::BufferUsageFlags(one.usage | other.usage);
    return {app.make_buffer(std::max(one.bytes, other.bytes), usage),
            app.make_buffer(std::max(one.bytes, other.bytes), usage)};
  }
  static BufferBinding binding(std::string_view name, const AppBuffer& buffer) {
    return {name, *buffer.buffer, 0, buffer.bytes};
  }

  Interposer vulkan;
  VulkanApp app;
  Device device;
  const std::string bytes = delay_model();
  Session session{device, Model::load(as_bytes(bytes))};
  Pair x = pair_for(session.input_buffer("x"), session.input_buffer("x"));
  Pair y = pair_for(session.output_buffer("y"), session.output_buffer("y"));
  Pair last = pair_for(session.input_buffer("last"), session.output_buffer("last.next"));
};

TEST_F(Streams, StateInTwoBuffersInTurnsNeedsNoHost) {
  std::vector<Recording> turns;
  for (const size_t turn : {size_t{0}, size_t{1}}) {
    const std::array in{binding("x", x[turn]), binding("last", last[turn])};
    const std::array out{binding("y", y[turn]), binding("last.next", last[1 - turn])};
    turns.push_back(session.bind(in, out));
  }
  // Two inferences in one command buffer: Vellum's first barrier lets the second read what the first wrote.
  const vk::raii::CommandBuffer commands = app.make_commands();
  commands.begin(vk::CommandBufferBeginInfo());
  for (const Recording& turn : turns) turn.record(*commands);
  commands.pipelineBarrier(vk::PipelineStageFlagBits::eComputeShader, vk::PipelineStageFlagBits::eHost, {},
                           vk::MemoryBarrier(vk::AccessFlagBits::eShaderWrite,
                                             vk::AccessFlagBits::eHostRead | vk::AccessFlagBits::eHostWrite),
                           {}, {});
  commands.end();

  const TensorInfo variable = session.inputs()[1];
  ASSERT_EQ(variable.name, "last");
  std::memcpy(last[0].data, variable.initial_value->data(), variable.initial_value->byte_size());
  std::deque<float> before{1, 2, 3, 4, 5, 6};
  for (int submit = 0; submit < 4; ++submit) {
    std::array<std::array<float, 2>, 2> given{}, want{};
    for (size_t turn = 0; turn < 2; ++turn) {
      for (size_t i = 0; i < 2; ++i) {
        given[turn][i] = static_cast<float>(100 * submit + 10 * static_cast<int>(turn) + static_cast<int>(i));
        want[turn][i] = given[turn][i] + before.front();
        before.pop_front();
        before.push_back(given[turn][i]);
      }
      std::memcpy(x[turn].data, given[turn].data(), sizeof given[turn]);
    }
    app.submit_and_wait(commands);
    for (size_t turn = 0; turn < 2; ++turn) {
      std::array<float, 2> got{};
      std::memcpy(got.data(), y[turn].data, sizeof got);
      EXPECT_EQ(got, want[turn]) << "submit " << submit << ", turn " << turn;
    }
  }
}

TEST_F(Streams, StateInOneBufferIsRefused) {
  const std::array in{binding("x", x[0]), binding("last", last[0])};
  const std::array out{binding("y", y[0]), binding("last.next", last[0])};
  EXPECT_VELLUM_ERROR(session.bind(in, out), ErrorCode::invalid_argument, "overlaps");
}

}  // namespace
}  // namespace vellum::test

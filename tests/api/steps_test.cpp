// Loops of steps on the device: the bits of separate runs, ends that the device finds, progress and stops.
#include "vellum/steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "decoder.hpp"
#include "public_interface.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "vellum/vellum.h"
#include "vellum/vellum.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test {
namespace {

Tensor numbers(const Shape& shape, const std::vector<float>& values) { return Tensor::f32(shape, values); }
Tensor integers(const Shape& shape, const std::vector<int64_t>& values) { return Tensor::i64(shape, values); }

// As a step of diffusion: latents.next = latents + t * tanh(latents * w), picture = latents.next * w.
OnnxModel diffusion() {
  OnnxModel model;
  model.input("latents", {1, 4, 5, 6})
      .input("t", {1})
      .initializer("w", random_tensor({1, 4, 1, 1}, 9))
      .node("Mul", {"latents", "w"}, {"scaled"})
      .node("Tanh", {"scaled"}, {"noise"})
      .node("Mul", {"noise", "t"}, {"step"})
      .node("Add", {"latents", "step"}, {"latents.next"})
      .node("Mul", {"latents.next", "w"}, {"picture"})
      .output("picture")
      .output("latents.next");
  return model;
}

// next = token * 3 + 1 mod 32, sum.next = sum + token. From 0: 1, 4, 13, 8, 25, 12, 5, 16, 17, 20, 29, 24, 9,
// ...
OnnxModel counter(int64_t batch = 1) {
  OnnxModel model;
  model.input("token", {batch, 1}, DType::i64)
      .input("sum", {batch, 1})
      .initializer("three", HostTensor::i64({1}, std::vector<int64_t>{3}))
      .initializer("one", HostTensor::i64({1}, std::vector<int64_t>{1}))
      .initializer("most", HostTensor::i64({1}, std::vector<int64_t>{32}))
      .node("Mul", {"token", "three"}, {"tripled"})
      .node("Add", {"tripled", "one"}, {"more"})
      .node("Mod", {"more", "most"}, {"next"})
      .node("Cast", {"token"}, {"number"}, attributes({{"to", int64_t{1}}}))
      .node("Add", {"sum", "number"}, {"sum.next"})
      .output("next")
      .output("sum.next");
  return model;
}

class Steps : public testing::Test {
 protected:
  static void SetUpTestSuite() { device_ = new Device(Device::open(device_options())); }
  static void TearDownTestSuite() { delete device_; }
  void TearDown() override { EXPECT_EQ(device().validation_messages(), 0u); }
  static Device& device() { return *device_; }
  static Session make(const OnnxModel& model, SessionOptions options = {}) {
    return Session(device(), load(model), options);
  }
  static Device* device_;
};
Device* Steps::device_ = nullptr;

TEST_F(Steps, HaveTheBitsOfSeparateRuns) {
  constexpr uint32_t kSteps = 7;
  const Tensor first = random_tensor({1, 4, 5, 6}, 1), times = random_tensor({kSteps, 1}, 2);
  for (const Precision precision : {Precision::fp32, Precision::fp16})
    for (const uint32_t per_submit : {0u, 1u, 3u}) {
      Session separate = make(diffusion(), {.precision = precision, .state = "auto"});
      Session session = make(diffusion(), {.precision = precision, .state = "auto"});
      const StepLoop loop = session.bind_steps({.steps = kSteps,
                                                .step_inputs = {"t"},
                                                .step_outputs = {"picture"},
                                                .steps_per_submit = per_submit});
      for (int repeat = 0; repeat < 2; ++repeat) {  // the second run of the loop continues the state
        if (repeat == 0) {
          separate.set_state("latents", first);
          session.set_state("latents", first);
        }
        const StepResults results = session.run_steps(loop, {{"t", times}});
        EXPECT_EQ(results.steps, kSteps);
        EXPECT_FALSE(results.ended);
        const Tensor& pictures = results.outputs.at("picture");
        EXPECT_EQ(pictures.shape(), (Shape{kSteps, 1, 4, 5, 6}));
        for (size_t i = 0; i < kSteps; ++i) {
          const Tensor one = separate.run({{"t", numbers({1}, {times.as<float>()[i]})}}).at("picture");
          EXPECT_EQ(std::memcmp(pictures.data() + i * one.byte_size(), one.data(), one.byte_size()), 0) << i;
          if (i + 1 == kSteps) {
            EXPECT_TRUE(same_bits(session.output("picture"), one));
          }
        }
        EXPECT_TRUE(same_bits(session.state("latents"), separate.state("latents")));
      }
    }
}

// A Markov chain that draws each token on the device: the tokens of separate runs, and the next seed's are
// others.
TEST_F(Steps, DrawTokens) {
  constexpr int64_t kStates = 50;
  constexpr uint32_t kSteps = 40;
  const auto chain = [](float seed) {
    OnnxModel model;
    model.input("token", {1}, DType::i64)
        .initializer("table", random_tensor({kStates, kStates}, 7, -2.0f, 2.0f))
        .node("Gather", {"table", "token"}, {"logits"})
        .node("Multinomial", {"logits"}, {"drawn"}, attributes({{"seed", seed}, {"dtype", int64_t{7}}}))
        .initializer("shape", HostTensor::i64({1}, std::vector<int64_t>{1}))
        .node("Reshape", {"drawn", "shape"}, {"next"})
        .output("next");
    return model;
  };
  const auto tokens = [&](Session& session) {
    const StepLoop loop =
        session.bind_steps({.steps = kSteps, .feedback = {{"next", "token"}}, .step_outputs = {"next"}});
    const Tensor first = Tensor::i64({1}, std::vector<int64_t>{3});
    return session.run_steps(loop, {{"token", first}}).outputs.at("next").to_ints();
  };
  Session session = make(chain(1.0f)), separate = make(chain(1.0f)), other = make(chain(2.0f));
  const std::vector<int64_t> drawn = tokens(session);
  std::vector<int64_t> expected{3};
  while (expected.size() <= kSteps)
    expected.push_back(separate.run({{"token", Tensor::i64({1}, std::vector<int64_t>{expected.back()})}})
                           .at("next")
                           .to_ints()[0]);
  EXPECT_EQ(drawn, std::vector<int64_t>(expected.begin() + 1, expected.end()));
  EXPECT_GT(std::set<int64_t>(drawn.begin(), drawn.end()).size(), 5u);
  EXPECT_NE(tokens(other), drawn);
  EXPECT_TRUE(session.warnings().empty()) << session.warnings().front();
}

// Without state: an output is the input of the next step, and stays it for the next call.
TEST_F(Steps, FeedOutputsBack) {
  Session session = make(diffusion()), separate = make(diffusion());
  Tensor latents = random_tensor({1, 4, 5, 6}, 3);
  const Tensor t = numbers({1}, {0.25f});
  const StepLoop loop = session.bind_steps({.steps = 3, .feedback = {{"latents.next", "latents"}}});
  EXPECT_VELLUM_ERROR(session.run_steps(loop), ErrorCode::invalid_argument, "neither set nor bound");
  session.run_steps(loop, {{"latents", latents}, {"t", t}});
  session.run_steps(loop);
  for (int i = 0; i < 6; ++i) latents = separate.run({{"latents", latents}, {"t", t}}).at("latents.next");
  EXPECT_TRUE(same_bits(session.output("latents.next"), latents));
  // The input holds the last value, so that an ordinary run continues, too.
  session.run();
  EXPECT_TRUE(same_bits(session.output("latents.next"),
                        separate.run({{"latents", latents}, {"t", t}}).at("latents.next")));
}

TEST_F(Steps, EndOnTheDevice) {
  for (const uint32_t per_submit : {0u, 1u, 5u}) {
    Session session = make(counter(), {.state = "auto"});
    const StepLoop loop = session.bind_steps({.steps = 12,
                                              .feedback = {{"next", "token"}},
                                              .step_outputs = {"next"},
                                              .end_output = "next",
                                              .end_values = {77, 25},
                                              .steps_per_submit = per_submit});
    for (int repeat = 0; repeat < 2; ++repeat) {
      session.reset_state();
      const StepResults results = session.run_steps(loop, {{"token", integers({1, 1}, {0})}});
      EXPECT_EQ(results.steps, 5u);
      EXPECT_TRUE(results.ended);
      EXPECT_EQ(results.outputs.at("next").to_ints(), (std::vector<int64_t>{1, 4, 13, 8, 25}));
      EXPECT_TRUE(close(session.state("sum"), numbers({1, 1}, {26})));  // of the tokens before 25
      EXPECT_EQ(session.output("next").to_ints(), std::vector<int64_t>{25});
    }
    const StepResults more = session.run_steps(loop);  // continues with 25, which was the last output
    EXPECT_EQ(more.steps, 12u);
    EXPECT_FALSE(more.ended);
    EXPECT_EQ(more.outputs.at("next").to_ints(),
              (std::vector<int64_t>{12, 5, 16, 17, 20, 29, 24, 9, 28, 21, 0, 1}));
  }
}

TEST_F(Steps, OfABatchEndWhenAllHaveEnded) {
  Session session = make(counter(3), {.state = "auto"});
  const StepLoop loop = session.bind_steps({.steps = 20,
                                            .feedback = {{"next", "token"}},
                                            .step_outputs = {"next"},
                                            .end_output = "next",
                                            .end_values = {25, 17}});
  // 25 after 1 step, 17 after 4, 25 after 5.
  const StepResults results = session.run_steps(loop, {{"token", integers({3, 1}, {8, 12, 0})}});
  EXPECT_EQ(results.steps, 5u);
  EXPECT_TRUE(results.ended);
  EXPECT_EQ(results.outputs.at("next").shape(), (Shape{5, 3, 1}));
}

TEST_F(Steps, ReportProgressAndStop) {
  Session session = make(counter(), {.state = "auto"});
  const StepLoop loop = session.bind_steps(
      {.steps = 9, .feedback = {{"next", "token"}}, .step_outputs = {"next"}, .steps_per_submit = 2});
  std::vector<uint32_t> reported;
  const auto keep = [&](uint32_t steps) { return reported.push_back(steps), true; };
  EXPECT_EQ(session.run_steps(loop, {{"token", integers({1, 1}, {0})}}, keep).steps, 9u);
  EXPECT_EQ(reported, (std::vector<uint32_t>{2, 4, 6, 8, 9}));
  session.reset_state();
  const StepResults stopped =
      session.run_steps(loop, {{"token", integers({1, 1}, {0})}}, [](uint32_t steps) { return steps < 2; });
  EXPECT_EQ(stopped.steps, 4u);  // the second submit was under way
  EXPECT_EQ(stopped.outputs.at("next").to_ints(), (std::vector<int64_t>{1, 4, 13, 8}));
  EXPECT_TRUE(close(session.state("sum"), numbers({1, 1}, {18})));
  EXPECT_VELLUM_ERROR(session.run_steps(loop, {}, [&](uint32_t) { return session.reset_state(), true; }),
                      ErrorCode::invalid_argument, "must not call it");
  EXPECT_VELLUM_ERROR(session.run_steps(loop, {}, [&](uint32_t) -> bool { throw std::runtime_error("no"); }),
                      ErrorCode::cancelled, "no");
  session.reset_state();
  EXPECT_EQ(session.run_steps(loop).steps, 9u);
}

class DecodingSteps : public testing::TestWithParam<DecoderForm> {
 protected:
  static constexpr uint32_t kSteps = 20;

  SessionOptions session_options() const {
    SessionOptions options{.state = "auto"};
    if (decoder.grows()) options.state_capacity = static_cast<uint32_t>(decoder.shape().capacity);
    return options;
  }
  bool has_mask() const { return GetParam() != DecoderForm::tensor_scatter; }
  // The values of inputs that depend on the length, for `steps` runs of `tokens` tokens each.
  std::map<std::string, Tensor> lengths(int64_t past, int64_t tokens, int64_t steps) const {
    const int64_t capacity = decoder.shape().capacity;
    std::vector<int64_t> mask, indices, totals;
    for (int64_t step = 0; step < steps; ++step) {
      const int64_t before = past + step * tokens;
      for (int64_t i = 0; i < capacity; ++i) mask.push_back(i < before + tokens ? 1 : 0);
      indices.push_back(before);
      totals.push_back(before + tokens);
    }
    const auto shaped = [&](Shape shape, const std::vector<int64_t>& values) {
      if (steps > 1) shape.insert(shape.begin(), steps);
      return integers(shape, values);
    };
    if (has_mask()) return {{"attention_mask", shaped({1, capacity}, mask)}};
    return {{"write_indices", shaped({1}, indices)}, {"lengths", shaped({1}, totals)}};
  }
  std::vector<int64_t> run(Session& session, const std::vector<int64_t>& tokens, int64_t past) const {
    const auto count = static_cast<int64_t>(tokens.size());
    auto inputs = lengths(past, count, 1);
    inputs.emplace("input_ids", integers({1, count}, tokens));
    return session.run(inputs).at("next").to_ints();
  }
  StepOptions step_options() const {
    StepOptions options{.steps = kSteps,
                        .feedback = {{"next", "input_ids"}},
                        .step_inputs = {"attention_mask"},
                        .step_outputs = {"next"}};
    if (!has_mask()) options.step_inputs = {"write_indices", "lengths"};
    return options;
  }

  const std::vector<int64_t> prompt{7, 3, 44, 12, 5, 60, 18};
  Decoder decoder{{}, GetParam()};
};

TEST_P(DecodingSteps, HaveTheTokensAndCachesOfSeparateRuns) {
  const Device device = Device::open(device_options());
  const Model model = load(decoder.model());
  Session session(device, model, session_options()), separate(device, model, session_options());
  std::vector<int64_t> expected{run(separate, prompt, 0).back()};
  const auto past = static_cast<int64_t>(prompt.size());
  for (uint32_t i = 0; i < kSteps; ++i)
    expected.push_back(run(separate, {expected.back()}, past + int64_t{i})[0]);
  EXPECT_EQ(expected, decoder.generate(prompt, kSteps + 1));

  const int64_t first = run(session, prompt, 0).back();
  session.prepare({{"input_ids", {1, 1}}});
  StepLoop loop = session.bind_steps(step_options());
  const auto generate = [&] {
    auto inputs = lengths(past, 1, kSteps);
    inputs.emplace("input_ids", integers({1, 1}, {first}));
    return session.run_steps(loop, inputs);
  };
  const auto want = std::vector<int64_t>(expected.begin() + 1, expected.end());
  EXPECT_EQ(generate().outputs.at("next").to_ints(), want);
  for (const StateInfo& state : separate.states())
    EXPECT_TRUE(same_bits(session.state(state.input), separate.state(state.input))) << state.input;

  // After another prompt, whose shapes the session was prepared for in between.
  session.reset_state();
  EXPECT_EQ(run(session, prompt, 0).back(), first);
  EXPECT_EQ(generate().outputs.at("next").to_ints(), want);

  // Up to the end token, which keeps the caches as after that token.
  StepOptions options = step_options();
  options.end_output = "next";
  options.end_values = {want[8]};
  const auto end = static_cast<uint32_t>(std::ranges::find(want, want[8]) - want.begin()) + 1;
  loop = session.bind_steps(options);
  session.reset_state();
  separate.reset_state();
  EXPECT_EQ(run(session, prompt, 0).back(), first);
  EXPECT_EQ(run(separate, prompt, 0).back(), first);
  const StepResults ended = generate();
  EXPECT_TRUE(ended.ended);
  EXPECT_EQ(ended.steps, end);
  for (uint32_t i = 0; i < end; ++i) run(separate, {expected[i]}, past + int64_t{i});
  for (const StateInfo& state : separate.states())
    EXPECT_TRUE(same_bits(session.state(state.input), separate.state(state.input))) << state.input;
  EXPECT_EQ(run(session, {expected[end]}, past + int64_t{end})[0],
            run(separate, {expected[end]}, past + int64_t{end})[0]);
  EXPECT_EQ(device.validation_messages(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Forms, DecodingSteps,
                         testing::Values(DecoderForm::group_query, DecoderForm::group_query_grows,
                                         DecoderForm::tensor_scatter, DecoderForm::concatenation,
                                         DecoderForm::attention));

TEST_F(Steps, BeyondTheCapacityOfCachesAreRefused) {
  const Decoder decoder({.capacity = 12}, DecoderForm::concatenation);
  SessionOptions options;
  options.state = "auto";
  options.input_shapes = {{"input_ids", {1, 1}}, {"attention_mask", {1, 12}}};
  options.state_capacity = 12;
  Session session = make(decoder.model(), options);
  const StepLoop loop = session.bind_steps({.steps = 8, .feedback = {{"next", "input_ids"}}});
  const std::map<std::string, Tensor> inputs{
      {"input_ids", integers({1, 1}, {3})},
      {"attention_mask", integers({1, 12}, std::vector<int64_t>(12, 1))}};
  session.run_steps(loop, inputs);
  EXPECT_VELLUM_ERROR(session.run_steps(loop), ErrorCode::invalid_argument, "8 tokens of 12", "8 more");
  EXPECT_EQ(session.state("cache_length").to_ints(), std::vector<int64_t>{8});
  EXPECT_VELLUM_ERROR(session.bind(NetworkBindings{.rest_on_host = true}), ErrorCode::unsupported,
                      "bind_steps()");
}

TEST_F(Steps, MisuseIsExplained) {
  Session session = make(counter(), {.state = "auto"}), other = make(counter(), {.state = "auto"});
  const auto refused = [&](const StepOptions& options, auto... parts) {
    EXPECT_VELLUM_ERROR(session.bind_steps(options), ErrorCode::invalid_argument, parts...);
  };
  refused({.steps = 0}, "one at least");
  refused({.feedback = {{"next", "sum"}}}, "'sum' is state");
  refused({.feedback = {{"sum.next", "token"}}}, "'sum.next' is state");
  refused({.feedback = {{"next", "token"}}, .step_inputs = {"token"}}, "'token' gets two values");
  refused({.end_output = "next"}, "0 end values");
  refused({.end_output = "next", .end_values = {int64_t{1} << 40}}, "exceeds 32 bits");
  refused({.end_values = {1}}, "no end_output");
  EXPECT_VELLUM_ERROR(session.bind_steps({.step_outputs = {"nothing"}}), ErrorCode::not_found, "'nothing'");
  Session plain = make(diffusion());
  EXPECT_VELLUM_ERROR(plain.bind_steps({.feedback = {{"picture", "t"}}}), ErrorCode::invalid_argument,
                      "'picture' is", "'t' is");
  EXPECT_VELLUM_ERROR(plain.bind_steps({.end_output = "picture", .end_values = {1}}),
                      ErrorCode::invalid_argument, "only integers");
  const StepLoop loop = session.bind_steps({.steps = 2, .step_inputs = {"token"}});
  EXPECT_VELLUM_ERROR(session.run_steps(loop), ErrorCode::invalid_argument, "for the steps were not set");
  EXPECT_VELLUM_ERROR(session.run_steps(loop, {{"token", integers({1, 1}, {0})}}),
                      ErrorCode::invalid_argument, "2x1x1");
  EXPECT_VELLUM_ERROR(other.run_steps(loop, {{"token", integers({2, 1, 1}, {0, 1})}}),
                      ErrorCode::invalid_argument, "not of this session");
  EXPECT_VELLUM_ERROR(session.run_steps(StepLoop()), ErrorCode::invalid_argument, "bind_steps()");
  Session streamed = make(diffusion(), {.weights_budget = 1 << 20});
  EXPECT_VELLUM_ERROR(streamed.bind_steps({}), ErrorCode::unsupported, "weights_budget");
}

TEST_F(Steps, ANewRunMakesNothing) {
  Interposer vulkan;
  VulkanApp app(vulkan.get_instance_proc_addr());
  DeviceOptions options = device_options();
  options.validation = false;  // the application's instance has it
  const Device own = Device::adopt(app.device(), options);
  Session session(own, load(counter()), {.state = "auto"});
  const StepLoop loop = session.bind_steps({.steps = 12,
                                            .feedback = {{"next", "token"}},
                                            .end_output = "next",
                                            .end_values = {25},
                                            .steps_per_submit = 6});
  const std::map<std::string, Tensor> inputs{{"token", integers({1, 1}, {0})}};
  session.run_steps(loop, inputs);
  const uint32_t made = vulkan.objects_made(), submits = vulkan.submits();
  session.run_steps(loop, inputs);
  EXPECT_EQ(vulkan.objects_made(), made);
  EXPECT_EQ(vulkan.submits() - submits, 2u);
}

// Several steps in one command buffer of the application, which feeds the output back by a copy of its own.
TEST_F(Steps, InACommandBufferOfTheApplication) {
  Interposer vulkan;
  VulkanApp app(vulkan.get_instance_proc_addr());
  DeviceOptions options = device_options();
  options.validation = false;
  const Device own = Device::adopt(app.device(), options);
  Session session(own, load(counter()), {.state = "auto"});
  constexpr vk::BufferUsageFlags kTransfers =
      vk::BufferUsageFlagBits::eTransferSrc | vk::BufferUsageFlagBits::eTransferDst;
  const BufferLayout in = session.input_buffer("token"), out = session.output_buffer("next");
  const AppBuffer token = app.make_buffer(in.bytes, vk::BufferUsageFlags(in.usage) | kTransfers),
                  next = app.make_buffer(out.bytes, vk::BufferUsageFlags(out.usage) | kTransfers);
  std::memset(token.data, 0, token.bytes);
  const BufferBinding from{"token", *token.buffer, 0, token.bytes}, to{"next", *next.buffer, 0, next.bytes};
  EXPECT_VELLUM_ERROR(session.input_buffer("sum"), ErrorCode::invalid_argument, "state");
  const BufferBinding state{"sum", *token.buffer, 0, token.bytes};
  EXPECT_VELLUM_ERROR(session.bind({&state, 1}, {&to, 1}), ErrorCode::invalid_argument, "state");
  const vk::raii::CommandBuffer commands = app.make_commands();
  commands.begin(vk::CommandBufferBeginInfo());
  Recording recording;
  const auto barrier = [&](vk::PipelineStageFlags before, vk::AccessFlags written,
                           vk::PipelineStageFlags after, vk::AccessFlags used) {
    commands.pipelineBarrier(before, after, {}, vk::MemoryBarrier(written, used), {}, {});
  };
  using Stage = vk::PipelineStageFlagBits;
  using Access = vk::AccessFlagBits;
  for (int step = 0; step < 4; ++step) {
    if (step == 0)
      recording = session.record(*commands, {&from, 1}, {&to, 1});
    else
      recording.record(*commands);
    barrier(Stage::eComputeShader, Access::eShaderWrite, Stage::eTransfer,
            Access::eTransferRead | Access::eTransferWrite);
    commands.copyBuffer(*next.buffer, *token.buffer, vk::BufferCopy(0, 0, 4));
    barrier(Stage::eTransfer, Access::eTransferWrite, Stage::eComputeShader,
            Access::eShaderRead | Access::eShaderWrite);
  }
  barrier(Stage::eComputeShader | Stage::eTransfer, Access::eShaderWrite | Access::eTransferWrite,
          Stage::eHost, Access::eHostRead);
  commands.end();
  app.submit_and_wait(commands);
  int32_t last = -1;
  std::memcpy(&last, next.data, sizeof last);
  EXPECT_EQ(last, 8);
  EXPECT_TRUE(close(session.state("sum"), numbers({1, 1}, {18})));
}

TEST_F(Steps, AreThereForC) {
  const std::string bytes = counter().bytes();
  vellum_error error;
  vellum_model* model = nullptr;
  vellum_device* c_device = nullptr;
  vellum_session* session = nullptr;
  vellum_session_options session_options{};
  vellum_session_options_init(&session_options);
  session_options.state = "auto";
  ASSERT_EQ(vellum_model_load_bytes(bytes.data(), bytes.size(), &model, &error), VELLUM_OK);
  ASSERT_EQ(vellum_device_open(nullptr, &c_device, &error), VELLUM_OK) << error.message;
  ASSERT_EQ(vellum_session_create(c_device, model, &session_options, &session, &error), VELLUM_OK);
  const vellum_feedback feedback{"next", "token"};
  const char* const kept[] = {"next"};
  const int64_t end = 8, first = 0;
  vellum_step_options options{};
  vellum_step_options_init(&options);
  EXPECT_EQ(options.steps, 1u);
  options.steps = 9;
  options.steps_per_submit = 1;
  options.feedback = &feedback;
  options.feedback_count = 1;
  options.step_outputs = kept;
  options.step_output_count = 1;
  options.end_output = "next";
  options.end_values = &end;
  options.end_value_count = 1;
  vellum_step_loop* loop = nullptr;
  ASSERT_EQ(vellum_step_loop_create(session, &options, &loop, &error), VELLUM_OK) << error.message;
  const vellum_input_values input{"token", &first, sizeof first, nullptr, 0};
  vellum_step_results results{};
  results.size = sizeof results;
  std::vector<uint32_t> reported;
  const auto report = [](uint32_t steps, void* user) -> int32_t {
    static_cast<std::vector<uint32_t>*>(user)->push_back(steps);
    return 0;
  };
  ASSERT_EQ(vellum_step_loop_run(loop, session, &input, 1, report, &reported, &results, &error), VELLUM_OK)
      << error.message;
  EXPECT_EQ(results.steps, 4u);
  EXPECT_EQ(results.ended, 1);
  // The count includes the second submit, if that has ended when the progress of the first is reported.
  ASSERT_FALSE(reported.empty());
  EXPECT_GE(reported.front(), 1u);
  EXPECT_TRUE(std::ranges::is_sorted(reported));
  vellum_tensor* tokens = nullptr;
  ASSERT_EQ(vellum_step_loop_output(loop, "next", &tokens, &error), VELLUM_OK) << error.message;
  const auto* values = static_cast<const int64_t*>(vellum_tensor_values(tokens));
  EXPECT_EQ(std::vector<int64_t>(values, values + 4), (std::vector<int64_t>{1, 4, 13, 8}));
  vellum_tensor_destroy(tokens);
  EXPECT_EQ(vellum_step_loop_output(loop, "sum.next", &tokens, &error), VELLUM_NOT_FOUND);
  const auto stop = [](uint32_t, void*) -> int32_t { return 1; };
  ASSERT_EQ(vellum_step_loop_run(loop, session, &input, 1, stop, nullptr, &results, &error), VELLUM_OK);
  EXPECT_EQ(results.steps, 2u);
  EXPECT_EQ(results.ended, 0);
  options.end_value_count = 0;
  vellum_step_loop* none = nullptr;
  EXPECT_EQ(vellum_step_loop_create(session, &options, &none, &error), VELLUM_INVALID_ARGUMENT);
  vellum_session_destroy(session);
  vellum_step_loop_destroy(loop);
  vellum_device_destroy(c_device);
  vellum_model_destroy(model);
}

}  // namespace
}  // namespace vellum::test

// Loops of steps on the device: the bits of separate runs, ends that the device finds, progress and stops.
#include "vellum/steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "decoder.hpp"
#include "public_interface.hpp"
#include "step_models.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "vellum/vellum.h"
#include "vellum/vellum.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test {
namespace {

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
  const Device own = Device::adopt(app.device(), adopt_options());
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
  const Device own = Device::adopt(app.device(), adopt_options());
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

}  // namespace
}  // namespace vellum::test

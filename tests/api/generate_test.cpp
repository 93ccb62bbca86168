// Greedy decoding in one session: its caches are state, a prompt of many tokens and steps of one share them,
// and the length is a value of the run.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "decoder.hpp"
#include "public_interface.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"
#include "vellum/estimate.hpp"
#include "vellum/kernel_check.hpp"
#include "vellum/memory_frontier.hpp"
#include "vellum/tune.hpp"
#include "vellum/vellum.hpp"
#include "vulkan/interposer.hpp"
#include "vulkan_app.hpp"

namespace vellum::test {
namespace {

const std::vector<int64_t> kPrompt{7, 3, 44, 12, 5, 60, 18};
constexpr size_t kTokens = 64;

class Decoding {
 protected:
  explicit Decoding(DecoderForm form) : form_(form) {}

  // Runs the tokens after `past` earlier ones, and returns the token that follows each of them.
  std::vector<int64_t> nexts(Session& session, const std::vector<int64_t>& tokens, int64_t past) const {
    const auto count = static_cast<int64_t>(tokens.size()), length = past + count;
    std::map<std::string, Tensor> inputs{{"input_ids", Tensor::i64({1, count}, tokens)}};
    if (form_ != DecoderForm::tensor_scatter) {
      std::vector<int64_t> mask(static_cast<size_t>(decoder.shape().capacity), 0);
      std::fill_n(mask.begin(), length, 1);
      inputs.emplace("attention_mask", Tensor::i64({1, decoder.shape().capacity}, mask));
    } else {
      inputs.emplace("write_indices", Tensor::i64({1}, std::vector<int64_t>{past}));
      inputs.emplace("lengths", Tensor::i64({1}, std::vector<int64_t>{length}));
    }
    return session.run(inputs).at("next").to_ints();
  }
  int64_t step(Session& session, const std::vector<int64_t>& tokens, int64_t past) const {
    return nexts(session, tokens, past).back();
  }

  SessionOptions session_options() const {
    SessionOptions options{.state = "auto"};
    if (decoder.grows()) options.state_capacity = static_cast<uint32_t>(decoder.shape().capacity);
    return options;
  }

  std::vector<int64_t> generate(Session& session, size_t count) const {
    std::vector<int64_t> tokens{step(session, kPrompt, 0)};
    auto past = static_cast<int64_t>(kPrompt.size());
    while (tokens.size() < count) tokens.push_back(step(session, {tokens.back()}, past++));
    return tokens;
  }

  const DecoderForm form_;
  Decoder decoder{{}, form_};
};

class Generate : public testing::TestWithParam<DecoderForm>, protected Decoding {
 protected:
  Generate() : Decoding(GetParam()) {}
};

class GrowingCaches : public testing::Test, protected Decoding {
 protected:
  GrowingCaches() : Decoding(DecoderForm::concatenation) {}
};

TEST_P(Generate, TheTokensOfTheDoubleReference) {
  const std::vector<int64_t> expected = decoder.generate(kPrompt, kTokens);
  EXPECT_GT(std::set<int64_t>(expected.begin(), expected.end()).size(), 8u) << "no loop of few tokens";
  const Device device = Device::open(device_options());
  const Model model = load(decoder.model());
  Session session(device, model, session_options());
  ASSERT_EQ(session.states().size(), decoder.grows() ? 5u : 4u);
  EXPECT_EQ(generate(session, kTokens), expected);
  EXPECT_TRUE(session.warnings().empty()) << session.warnings().front();
  // From a copy of the state after the prompt the same tokens follow.
  session.reset_state();
  const int64_t first = step(session, kPrompt, 0);
  const SavedState after_prompt = session.save_state();
  const auto past = static_cast<int64_t>(kPrompt.size());
  const int64_t second = step(session, {first}, past);
  step(session, {second}, past + 1);
  session.restore_state(after_prompt);
  EXPECT_EQ(step(session, {first}, past), expected[1]);
  EXPECT_EQ(device.validation_messages(), 0u);
}

// Prompts of any length in pieces of four tokens, the last of which is filled up: what follows the prompt is
// written over.
TEST_F(GrowingCaches, PromptsInPiecesOfOneLength) {
  constexpr size_t kPiece = 4;
  const Device device = Device::open(device_options());
  Session session(device, load(decoder.model()), session_options());
  for (size_t count = 1; count <= kPrompt.size(); ++count) {
    const std::vector<int64_t> prompt(kPrompt.begin(), kPrompt.begin() + static_cast<std::ptrdiff_t>(count));
    session.reset_state();
    int64_t next = -1;
    for (size_t past = 0; past < count; past += kPiece) {
      std::vector<int64_t> piece(kPiece, 0);
      const size_t own = std::min(kPiece, count - past);
      std::copy_n(prompt.begin() + static_cast<std::ptrdiff_t>(past), own, piece.begin());
      next = nexts(session, piece, static_cast<int64_t>(past))[own - 1];
    }
    session.set_state("cache_length", Tensor::i64({1}, std::vector<int64_t>{static_cast<int64_t>(count)}));
    std::vector<int64_t> tokens{next};
    for (auto past = static_cast<int64_t>(count); tokens.size() < 4; ++past)
      tokens.push_back(nexts(session, {tokens.back()}, past)[0]);
    EXPECT_EQ(tokens, decoder.generate(prompt, 4)) << count << " tokens";
  }
}

TEST_F(GrowingCaches, AreEstimated) {
  const Device device = Device::open(device_options());
  const Model model = load(decoder.model());
  SessionOptions options = session_options();
  options.input_shapes = {{"input_ids", {1, 1}}, {"attention_mask", {1, decoder.shape().capacity}}};
  const MemoryEstimate estimate = estimate_memory(model, options, device);
  EXPECT_EQ(estimate.vulkan.state, Session(device, model, options).memory().state_bytes);
  EXPECT_GT(estimate.shape_inference_bytes, estimate.use.state);
}

TEST_F(GrowingCaches, AreTunedCheckedAndFitted) {
  const Device device = Device::open(device_options());
  const Model model = load(decoder.model());
  SessionOptions options = session_options();
  options.input_shapes = {{"input_ids", {1, 1}}, {"attention_mask", {1, decoder.shape().capacity}}};
  const std::vector<int64_t> expected = decoder.generate(kPrompt, 4);
  for (const KernelCheck& check : check_layers(device, model, options))
    EXPECT_TRUE(check.passed()) << check.operation;
  EXPECT_FALSE(memory_frontier(model, options, device).points.empty());
  const TuneReport report = tune(device, model, options, {.seconds = 0.2, .storages = false});
  EXPECT_FALSE(report.operators.empty());
  EXPECT_GT(report.untuned_ms, 0.0);
  Session session(device, model, options);
  EXPECT_EQ(generate(session, 4), expected);
  forget_tuning(device);
}

TEST_F(GrowingCaches, RefuseMoreTokensThanTheyHaveRoomFor) {
  const Device device = Device::open(device_options());
  SessionOptions options = session_options();
  options.state_capacity = 12;
  Session session(device, load(decoder.model()), options);
  const auto run = [&](int64_t past, const std::vector<int64_t>& tokens) {
    const auto count = static_cast<int64_t>(tokens.size());
    const std::vector<int64_t> mask(static_cast<size_t>(past + count), 1);  // zeros after it are added
    const std::map<std::string, Tensor> inputs{{"input_ids", Tensor::i64({1, count}, tokens)},
                                               {"attention_mask", Tensor::i64({1, past + count}, mask)}};
    if (past % 2 == 0) return session.submit(inputs).output("next").to_ints();
    return session.run(inputs).at("next").to_ints();
  };
  std::vector<int64_t> tokens{run(0, kPrompt).back()};
  for (int64_t past = 7; past < 12; ++past) tokens.push_back(run(past, {tokens.back()})[0]);
  EXPECT_EQ(tokens, decoder.generate(kPrompt, 6));
  EXPECT_VELLUM_ERROR(run(12, {1}), ErrorCode::invalid_argument, "13 tokens", "room for 12");
  EXPECT_VELLUM_ERROR(run(11, {1}), ErrorCode::invalid_argument, "the caches hold 12 tokens of 12");
  EXPECT_VELLUM_ERROR(session.set_state("cache_length", Tensor::i64({1}, std::vector<int64_t>{13})),
                      ErrorCode::invalid_argument, "cannot hold 13");
  // A shorter length forgets what was generated.
  session.set_state("cache_length", Tensor::i64({1}, std::vector<int64_t>{7}));
  EXPECT_EQ(run(7, {tokens[0]})[0], tokens[1]);
  options.input_shapes = {{"attention_mask", {1, 12}}, {"input_ids", {1, 10}}};
  EXPECT_VELLUM_ERROR(Session(device, load(decoder.model()), options), ErrorCode::invalid_argument,
                      "10 tokens in one run need caches of 13");
}

TEST_P(Generate, ANewLengthMakesNothing) {
  Interposer vulkan;
  VulkanApp app(vulkan.get_instance_proc_addr());
  const Device device = Device::adopt(app.device(), adopt_options());
  Session session(device, load(decoder.model()), session_options());
  int64_t token = step(session, kPrompt, 0);
  auto past = static_cast<int64_t>(kPrompt.size());
  token = step(session, {token}, past++);
  const uint32_t before = vulkan.objects_made(), allocations = vulkan.allocations();
  EXPECT_GT(before, 10u) << "the count counts";
  for (int i = 0; i < 5; ++i) token = step(session, {token}, past++);
  EXPECT_EQ(vulkan.objects_made(), before);
  EXPECT_EQ(vulkan.allocations(), allocations);
}

INSTANTIATE_TEST_SUITE_P(Forms, Generate,
                         testing::Values(DecoderForm::group_query, DecoderForm::group_query_grows,
                                         DecoderForm::group_query_sinks, DecoderForm::tensor_scatter,
                                         DecoderForm::concatenation, DecoderForm::attention),
                         [](const auto& form) {
                           return form.param == DecoderForm::group_query ? "GroupQueryAttention"
                                  : form.param == DecoderForm::group_query_grows
                                      ? "GroupQueryAttentionThatGrows"
                                  : form.param == DecoderForm::group_query_sinks
                                      ? "GroupQueryAttentionWithSinks"
                                  : form.param == DecoderForm::tensor_scatter ? "TensorScatter"
                                  : form.param == DecoderForm::concatenation  ? "Concatenation"
                                                                              : "Attention";
                         });

}  // namespace
}  // namespace vellum::test
